import type { Condition } from '../apis/meta.js';
import { listenerConditions } from './conditions/listener.js';
import { printHostname } from './hostname.js';
import type { ListenerNode, ListenerTls } from './listener.js';

/** Why a listener is not served although nothing is wrong with it on its own. */
export interface Verdict {
  readonly accepted: Condition;
  readonly conflicted: Condition;
  readonly programmed: Condition;
}

export function hostnameConflict(problem: string): Verdict {
  return {
    accepted: listenerConditions.notAcceptedHostname(problem),
    conflicted: listenerConditions.hostnameConflict(problem),
    programmed: listenerConditions.notProgrammedHostname(problem),
  };
}

export function protocolConflict(problem: string): Verdict {
  return {
    accepted: listenerConditions.notAcceptedProtocol(problem),
    conflicted: listenerConditions.protocolConflict(problem),
    programmed: listenerConditions.notProgrammedProtocol(problem),
  };
}

/**
 * Conflicts among the listeners of one object. Nobody wins: "The implementation MUST NOT pick one conflicting
 * Listener as the winner" (GatewaySpec.Listeners, handling indistinct listeners).
 */
export function conflictsWithin(listeners: readonly ListenerNode[]): ReadonlyMap<string, Verdict> {
  const verdicts = new Map<string, Verdict>();
  for (const a of listeners) {
    for (const b of listeners) {
      const verdict = a !== b && canConflict(a) ? compare(a, b) : undefined;
      if (verdict) {
        verdicts.set(a.key, verdict);
        break;
      }
    }
  }
  return verdicts;
}

function compare(a: ListenerNode, b: ListenerNode): Verdict | undefined {
  if (!canConflict(b) || !sharesPort(a, b)) return undefined;
  if (a.protocol !== b.protocol) {
    return protocolConflict(`Port ${a.port} is also used by ${nameOf(b)} with another protocol`);
  }
  return a.hostname === b.hostname
    ? hostnameConflict(`${describePlace(a)} is also used by ${nameOf(b)}`)
    : undefined;
}

/** A listener of a protocol that is not served takes part in nothing. */
function canConflict(listener: ListenerNode): boolean {
  return listener.protocol !== undefined && listener.notAccepted?.reason !== 'PortUnavailable';
}

function sharesPort(a: ListenerNode, b: ListenerNode): boolean {
  return a.port === b.port && (a.protocol === 'udp') === (b.protocol === 'udp');
}

/**
 * Who holds what on the ports of one address. Listeners are admitted one after the other, in order of precedence:
 * Gateways before ListenerSets, then the older, then `namespace/name`.
 */
export class PortClaims {
  /** By transport and port. */
  readonly #ports = new Map<string, PortHolder>();

  /** Why the listener cannot be admitted: somebody was first. */
  refuse(listener: ListenerNode): Verdict | undefined {
    const holder = this.#ports.get(placeOf(listener));
    if (!holder) return undefined;
    // That the port is taken is true whether or not we serve the protocol.
    const conflicts =
      holder.first.protocol !== (listener.protocol ?? listener.unserved ?? holder.first.protocol);
    // What is refused anyway holds nothing and is in nobody's way.
    if (listener.notAccepted && !(conflicts && listener.unserved)) return undefined;
    if (conflicts) {
      return protocolConflict(
        `Port ${listener.port} is held by ${nameOf(holder.first)} with another protocol`,
      );
    }
    const same = holder.byHostname.get(listener.hostname);
    return same && !canShare(same, listener)
      ? hostnameConflict(`${describePlace(listener)} is held by ${nameOf(same)}`)
      : undefined;
  }

  /** Claims for a listener that is not refused. */
  admit(listener: ListenerNode): void {
    if (listener.protocol === undefined || listener.notAccepted) return;
    const holder = this.#ports.get(placeOf(listener));
    if (!holder) {
      this.#ports.set(placeOf(listener), {
        first: listener,
        byHostname: new Map([[listener.hostname, listener]]),
      });
    } else if (!holder.byHostname.has(listener.hostname)) {
      holder.byHostname.set(listener.hostname, listener);
    }
  }
}

/** TCP and UDP have their own ports. */
function placeOf({ protocol, unserved, port }: ListenerNode): string {
  return `${(protocol ?? unserved) === 'udp' ? 'udp' : 'tcp'}/${port}`;
}

interface PortHolder {
  readonly first: ListenerNode;
  readonly byHostname: Map<string, ListenerNode>;
}

/**
 * Whether listeners of different Gateways on one address may have the same hostname: without a hostname they claim
 * nothing by themselves, with one they must be of one namespace. TLS must end the same way for both.
 */
function canShare(older: ListenerNode, newer: ListenerNode): boolean {
  if (older.gateway === newer.gateway) return false;
  if (older.protocol === 'tcp' || older.protocol === 'udp') return false;
  if (older.hostname !== '' && older.owner.namespace !== newer.owner.namespace) return false;
  return older.tls === undefined || newer.tls === undefined || sameTlsEnd(older.tls, newer.tls);
}

function sameTlsEnd(a: ListenerTls, b: ListenerTls): boolean {
  return (
    a.mode === 'terminate' &&
    b.mode === 'terminate' &&
    a.carries === 'http' &&
    b.carries === 'http' &&
    a.clientValidation?.mode === b.clientValidation?.mode &&
    a.clientValidation?.caBundle === b.clientValidation?.caBundle
  );
}

function describePlace({ port, protocol, hostname }: ListenerNode): string {
  const hasHostname = protocol === 'http' || protocol === 'tls';
  return hasHostname ? `Port ${port} with hostname ${printHostname(hostname)}` : `Port ${port}`;
}

function nameOf(listener: ListenerNode): string {
  const { kind, namespace, name } = listener.owner;
  return `listener ${listener.name} of ${kind} ${namespace}/${name}`;
}
