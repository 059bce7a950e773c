import { expect } from 'chai';
import { joinEnds, type TunnelEnd } from '../../../../src/engine/exchange/tunnel.js';
import { FAILED, PENDING } from '../../../../src/engine/wire/wire.js';
import { FakeConnection } from '../../../support/engine/fake-connection.js';

/** An end whose codec notes what it hears. */
function tunnelEnd(): TunnelEnd & { readonly connection: FakeConnection; readonly heard: string[] } {
  const heard: string[] = [];
  const connection = new FakeConnection();
  connection.readInto(Buffer.alloc(64));
  const note = (what: string) => () => void heard.push(what);
  const codec = {
    onConnect: note('connect'),
    onSecure: note('secure'),
    onRead: note('read'),
    onEnd: note('end'),
    onDrain: note('drain'),
    onClose: note('close'),
    holdReading: note('hold reading'),
    awaitDrain: note('await drain'),
  };
  return { connection, codec, heard };
}

describe('joinEnds', () => {
  it('passes bytes by the codecs and counts them', () => {
    const client = tunnelEnd();
    const backend = tunnelEnd();
    const bytes = joinEnds(client, backend);
    client.connection.receive('question');
    backend.connection.receive('answer');
    backend.connection.receive('s');
    expect(backend.connection.writes).to.deep.equal(['question']);
    expect(client.connection.writes).to.deep.equal(['answer', 's']);
    expect([...bytes]).to.deep.equal([8, 7]);
    expect([...client.heard, ...backend.heard]).to.deep.equal([]);
  });

  it('tells both codecs when bytes are not taken', () => {
    const client = tunnelEnd();
    const backend = tunnelEnd();
    joinEnds(client, backend);
    backend.connection.outcome = PENDING;
    client.connection.receive('?');
    expect(client.heard).to.deep.equal(['hold reading']);
    expect(backend.heard).to.deep.equal(['await drain']);
  });

  it('leaves everything else to the codecs', () => {
    const client = tunnelEnd();
    const backend = tunnelEnd();
    joinEnds(client, backend);
    backend.connection.outcome = FAILED;
    client.connection.receive('?');
    backend.connection.handler.onDrain();
    backend.connection.handler.onEnd();
    backend.connection.handler.onClose(undefined);
    expect(backend.heard).to.deep.equal(['drain', 'end', 'close']);
    expect(client.heard).to.deep.equal([]);
  });
});
