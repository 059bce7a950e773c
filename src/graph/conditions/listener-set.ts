import type { Condition } from '../../apis/meta.js';
import { condition } from './condition.js';

/** One constructor per outcome of a ListenerSet (GEP-1713). */
export const listenerSetConditions = {
  accepted: (): Condition => condition('Accepted', 'True', 'Accepted', 'The ListenerSet is accepted'),
  someListenersInvalid: (listeners: readonly string[]): Condition =>
    condition(
      'Accepted',
      'True',
      'ListenersNotValid',
      `Listeners ${listeners.join(', ')} are not valid, the others are served`,
    ),
  noListenerValid: (): Condition =>
    condition('Accepted', 'False', 'ListenersNotValid', 'No listener of the ListenerSet is valid'),
  notAllowed: (gateway: string): Condition =>
    condition(
      'Accepted',
      'False',
      'NotAllowed',
      `spec.allowedListeners of Gateway ${gateway} does not allow ListenerSets of this namespace`,
    ),
  parentNotAccepted: (gateway: string): Condition =>
    condition('Accepted', 'False', 'ParentNotAccepted', `Gateway ${gateway} is not accepted`),

  programmed: (): Condition => condition('Programmed', 'True', 'Programmed', 'The ListenerSet is served'),
  notProgrammedAsNotAllowed: (): Condition =>
    condition('Programmed', 'False', 'NotAllowed', 'The ListenerSet is not allowed, so it is not served'),
  notProgrammedAsParent: (gateway: string): Condition =>
    condition('Programmed', 'False', 'ParentNotProgrammed', `Gateway ${gateway} is not programmed`),
  notProgrammedAsListeners: (): Condition =>
    condition('Programmed', 'False', 'ListenersNotValid', 'No listener of the ListenerSet is valid'),
} as const;
