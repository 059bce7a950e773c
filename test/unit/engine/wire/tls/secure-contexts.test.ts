import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { ClientSessions } from '../../../../../src/engine/wire/tls/client-sessions.js';
import {
  createClientContext,
  SecureContexts,
  TICKET_KEY_BYTES,
  type KeyPair,
} from '../../../../../src/engine/wire/tls/secure-contexts.js';
import { selfSigned, TestAuthority } from '../../../../support/certificates.js';

describe('SecureContexts', () => {
  const { certificate: chain, privateKey } = selfSigned(['a.test']);
  const pair: KeyPair = { chain, privateKey };
  const ticketKeys = randomBytes(TICKET_KEY_BYTES);
  const clientCa = new TestAuthority().certificate;

  it('gives the same context for equal options, another for each difference', () => {
    const contexts = new SecureContexts();
    const options = { keyPairs: [pair], ticketKeys };
    const server = contexts.server(options);
    expect(contexts.server({ keyPairs: [{ ...pair }], ticketKeys: Buffer.from(ticketKeys) })).to.equal(
      server,
    );
    const others = [
      contexts.server({ ...options, ticketKeys: randomBytes(TICKET_KEY_BYTES) }),
      contexts.server({ ...options, clientCa }),
      contexts.client({}),
      contexts.client({ ca: clientCa }),
      contexts.client({ keyPair: pair }),
    ];
    expect(new Set([server, ...others]).size).to.equal(6);
    expect(contexts.client({ ca: clientCa })).to.equal(others[3]);
  });

  it('throws what OpenSSL says of a key that does not belong', () => {
    const contexts = new SecureContexts();
    const other = selfSigned(['a.test']).privateKey;
    expect(() => contexts.server({ keyPairs: [{ chain, privateKey: other }], ticketKeys })).to.throw(
      /key values mismatch/,
    );
    expect(() => contexts.client({ keyPair: { chain: 'no PEM', privateKey } })).to.throw();
  });
});

describe('ClientSessions', () => {
  const peer = { subject: '', subjectAltName: '', raw: Buffer.alloc(0) };
  const sessionOf = (text: string): { session: Buffer; peer: typeof peer } => ({
    session: Buffer.from(text),
    peer,
  });

  it('keeps the newest for each context and key, a bounded number, and forgets on request', () => {
    const sessions = new ClientSessions();
    const context = createClientContext({});
    const other = createClientContext({});
    sessions.put(context, 'a', sessionOf('1'));
    const newest = sessionOf('2');
    sessions.put(context, 'a', newest);
    expect(sessions.get(context, 'a')).to.equal(newest);
    expect(sessions.get(other, 'a')).to.equal(undefined);
    sessions.drop(context, 'a');
    sessions.drop(other, 'a');
    expect(sessions.get(context, 'a')).to.equal(undefined);

    for (let index = 0; index < 1_025; index++) sessions.put(context, String(index), newest);
    expect(sessions.get(context, '0')).to.equal(undefined);
    expect(sessions.get(context, '1')).to.equal(newest);
    expect(sessions.get(context, '1024')).to.equal(newest);
  });
});
