import { DEFAULT_LISTENER_SETTINGS } from '../../../src/ir/listener.js';
import type { DownstreamContext } from '../../../src/engine/exchange/downstream.js';

/** A clear-text connection from 192.0.2.1 to port 80. */
export function contextOf(context: Partial<DownstreamContext> = {}): DownstreamContext {
  return {
    listener: 'tcp/127.0.0.1:80',
    settings: DEFAULT_LISTENER_SETTINGS,
    secure: false,
    sniServer: undefined,
    remoteAddress: '192.0.2.1',
    remotePort: 50_000,
    localAddress: '127.0.0.1',
    localPort: 80,
    trusted: false,
    addForwarded: () => undefined,
    ...context,
  };
}
