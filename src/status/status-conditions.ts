import type { Condition } from '../apis/meta.js';

/** Conditions that only the status layer can conclude, because only the engine's answer tells. */
export const servingConditions = {
  portUnavailable: (socket: string, problem: string): Condition => ({
    type: 'Programmed',
    status: 'False',
    reason: 'PortUnavailable',
    message: `${socket} cannot be opened: ${problem}`,
  }),
  addressNotUsable: (socket: string, problem: string): Condition => ({
    type: 'Programmed',
    status: 'False',
    reason: 'AddressNotUsable',
    message: `${socket} cannot be opened: ${problem}`,
  }),
  invalid: (socket: string, problem: string): Condition => ({
    type: 'Programmed',
    status: 'False',
    reason: 'Invalid',
    message: `${socket} cannot be served: ${problem}`,
  }),
  pending: (socket: string): Condition => ({
    type: 'Programmed',
    status: 'False',
    reason: 'Pending',
    message: `${socket} is not being served yet`,
  }),
  noListenerServes: (): Condition => ({
    type: 'Programmed',
    status: 'False',
    reason: 'Invalid',
    message: 'No listener could be opened; their conditions say why',
  }),
  rejected: (problem: string): Condition => ({
    type: 'Programmed',
    status: 'False',
    reason: 'Pending',
    message: `The data plane did not take the configuration and serves the one before: ${problem}`,
  }),
} as const;
