import { randomBytes } from 'node:crypto';

import { expect } from 'chai';

import { ListenerRuntimes } from '../../../../src/engine/data-plane/listener-runtimes.js';
import {
  SecureContexts,
  TICKET_KEY_BYTES,
  type ServerContextOptions,
} from '../../../../src/engine/wire/tls/secure-contexts.js';
import { DEFAULT_LISTENER_SETTINGS, type Listener } from '../../../../src/ir/listener.js';
import type { ClientValidation } from '../../../../src/ir/tls.js';
import { SecretBytes } from '../../../../src/util/secret-bytes.js';
import { selfSigned, TestAuthority } from '../../../support/certificates.js';

const { certificate, privateKey } = selfSigned(['a.test']);
const caBundle = new TestAuthority('Client CA').certificate;
const certificates = new Map([
  ['Secret/ns/a', { key: 'Secret/ns/a', chain: certificate, privateKey: new SecretBytes(privateKey) }],
]);

class RecordingContexts extends SecureContexts {
  readonly seen: ServerContextOptions[] = [];

  override server(options: ServerContextOptions): ReturnType<SecureContexts['server']> {
    this.seen.push(options);
    return super.server(options);
  }
}

function listener(mode: ClientValidation['mode'] | undefined): Listener {
  return {
    key: 'tcp/[::]:443',
    address: '::',
    port: 443,
    transport: 'tcp',
    protocol: 'tls',
    settings: DEFAULT_LISTENER_SETTINGS,
    servers: [
      {
        hostname: 'a.test',
        listeners: ['Gateway/ns/edge/https'],
        tls: { certificates: ['Secret/ns/a'], ...(mode && { clientValidation: { mode, caBundle } }) },
        application: { type: 'http', virtualHosts: [] },
      },
    ],
  };
}

describe('ListenerRuntimes', () => {
  for (const { mode, asks, knows } of [
    { mode: undefined, asks: 'none', knows: undefined },
    { mode: 'require', asks: 'require', knows: caBundle },
    // Who accepts every certificate verifies none: a signature that fails would end the connection.
    { mode: 'insecure-fallback', asks: 'request', knows: undefined },
  ] as const) {
    it(`asks for client certificates as ${mode ?? 'nobody'} wants it`, () => {
      const contexts = new RecordingContexts();
      const faults: string[] = [];
      const runtimes = new ListenerRuntimes({
        contexts,
        ticketKeys: randomBytes(TICKET_KEY_BYTES),
        onFault: (server, problem) => faults.push(`${server}: ${problem}`),
      });
      const one = listener(mode);
      const compiled = runtimes.compile(new Map([[one.key, one]]), certificates);
      expect(faults).to.deep.equal([]);
      expect(contexts.seen.map(({ clientCa }) => clientCa)).to.deep.equal([knows]);
      expect(compiled.get(one.key)?.tlsServers.find('a.test')?.tls?.clientCertificate).to.equal(asks);
    });
  }
});
