import type { Graph, SettledGateway, SettledListener } from '../graph/graph.js';
import type { ListenerNode, PortProtocol } from '../graph/listener.js';
import { sameItems } from '../graph/memo.js';
import { compareAge } from '../graph/precedence.js';
import { socketKeysOf } from '../graph/socket.js';

/** One address and port with the listeners that share it. */
export interface Socket {
  readonly key: string;
  readonly address: string;
  readonly port: number;
  readonly protocol: PortProtocol;
  /** The oldest first: it decides where two cannot both have their way. */
  readonly members: readonly ListenerNode[];
}

/** The sockets of one graph after the other; the same list while Gateways and ListenerSets are the same objects. */
export class SocketCollector {
  #inputs: readonly unknown[] = [];
  #sockets: readonly Socket[] = [];

  collect(graph: Graph): readonly Socket[] {
    const inputs = [...graph.gateways, '|', ...graph.listenerSets];
    if (!sameItems(this.#inputs, inputs)) this.#sockets = collectSockets(graph);
    this.#inputs = inputs;
    return this.#sockets;
  }
}

/** Puts the served listeners of all Gateways onto the addresses they are bound to. Sorted by key. */
function collectSockets(graph: Graph): readonly Socket[] {
  const sockets = new Map<string, Omit<Socket, 'members'> & { readonly members: ListenerNode[] }>();
  const gateways = new Map(graph.gateways.map((gateway) => [gateway.node.id, gateway]));
  const place = (gateway: SettledGateway, listeners: readonly SettledListener[]): void => {
    for (const { node, served } of listeners) {
      if (!served || node.protocol === undefined) continue;
      for (const [index, key] of socketKeysOf(node, gateway.address).entries()) {
        const known = sockets.get(key);
        if (known) {
          known.members.push(node);
          continue;
        }
        const address = gateway.address.bind[index] ?? '';
        sockets.set(key, { key, address, port: node.port, protocol: node.protocol, members: [node] });
      }
    }
  };
  for (const gateway of graph.gateways) place(gateway, gateway.listeners);
  for (const set of graph.listenerSets) {
    const parent = gateways.get(set.node.gateway);
    if (parent) place(parent, set.listeners);
  }
  for (const { members } of sockets.values()) members.sort(byAge);
  return [...sockets.keys()].sort().flatMap((key) => sockets.get(key) ?? []);
}

function byAge(a: ListenerNode, b: ListenerNode): number {
  return compareAge(agedOf(a), agedOf(b));
}

function agedOf({ owner, key }: ListenerNode) {
  return { createdAt: owner.createdAt, id: `${owner.namespace}/${owner.name}/${key}` };
}
