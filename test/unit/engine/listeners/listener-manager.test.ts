import { expect } from 'chai';
import { ListenerManager } from '../../../../src/engine/listeners/listener-manager.js';
import type { Acceptor, Connection, ListenOptions, Wire } from '../../../../src/engine/wire/wire.js';
import { DEFAULT_LISTENER_SETTINGS, type Listener } from '../../../../src/ir/listener.js';

function listener(transport: 'tcp' | 'udp', port: number): Listener {
  return {
    key: `${transport}/[::]:${port}`,
    address: '::',
    port,
    transport,
    protocol: transport,
    servers: [],
    settings: DEFAULT_LISTENER_SETTINGS,
  };
}

/** Notes what is opened and closed; opening fails with what is in `failure`. */
class Lab {
  readonly heard: string[] = [];
  failure: unknown;
  accept: ((connection: Connection) => void) | undefined;
  readonly manager: ListenerManager;

  constructor() {
    const open = (what: string): Promise<Acceptor> => {
      this.heard.push(`open ${what}`);
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- what is no Error is a case
      if (this.failure !== undefined) return Promise.reject(this.failure);
      return Promise.resolve({
        address: '::',
        port: 0,
        close: () => {
          this.heard.push(`close ${what}`);
          return Promise.resolve();
        },
      });
    };
    const wire: Partial<Wire> = {
      listen: ({ port, accept }: ListenOptions) => {
        this.accept = accept;
        return open(`tcp ${port}`);
      },
    };
    this.manager = new ListenerManager({
      // A manager does nothing with its wire but listen.
      wire: wire as Wire,
      reusePort: false,
      accept: (key) => this.heard.push(`accept ${key}`),
      openDatagrams: ({ port }) => open(`udp ${port}`),
    });
  }
}

describe('sockets of listeners', () => {
  const serving = { state: 'serving' };

  it('are opened once, by their transport, and closed when they are gone', async () => {
    const lab = new Lab();
    const both = [listener('tcp', 80), listener('udp', 53)];
    expect(await lab.manager.update(both)).to.deep.equal([
      ['tcp/[::]:80', serving],
      ['udp/[::]:53', serving],
    ]);
    await lab.manager.update(both);
    expect(lab.heard).to.deep.equal(['open tcp 80', 'open udp 53']);
    // What is gone is closed before anything is opened.
    await lab.manager.update([listener('tcp', 81), listener('udp', 53)]);
    expect(lab.heard.slice(2)).to.deep.equal(['close tcp 80', 'open tcp 81']);
    await lab.manager.close();
    expect(lab.heard.slice(4)).to.have.members(['close tcp 81', 'close udp 53']);
  });

  it('give their connections with the key of the listener', async () => {
    const lab = new Lab();
    await lab.manager.update([listener('tcp', 80)]);
    lab.accept?.({} as Connection);
    expect(lab.heard).to.deep.equal(['open tcp 80', 'accept tcp/[::]:80']);
  });

  for (const [title, failure, code, message] of [
    ['a system error', Object.assign(new Error('in use'), { code: 'EADDRINUSE' }), 'EADDRINUSE', 'in use'],
    ['an error without a code', new Error('odd'), 'UNKNOWN', 'odd'],
    ['an error with a number', Object.assign(new Error('odd'), { code: 5 }), 'UNKNOWN', 'odd'],
    ['something else', 'just text', 'UNKNOWN', 'just text'],
  ] as const) {
    it(`that cannot be opened are told, and tried again: ${title}`, async () => {
      const lab = new Lab();
      lab.failure = failure;
      const wanted = [listener('tcp', 80)];
      expect(await lab.manager.update(wanted)).to.deep.equal([
        ['tcp/[::]:80', { state: 'failed', code, message }],
      ]);
      lab.failure = undefined;
      expect(await lab.manager.update(wanted)).to.deep.equal([['tcp/[::]:80', serving]]);
    });
  }
});
