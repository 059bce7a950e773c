import { expect } from 'chai';
import { FieldList } from '../../../../src/engine/exchange/fields.js';
import { PlainResponseHead, type RequestHead } from '../../../../src/engine/exchange/heads.js';
import { Piece } from '../../../../src/engine/exchange/piece.js';
import type { UpstreamHandler, UpstreamTarget } from '../../../../src/engine/exchange/upstream.js';
import { MirrorClient } from '../../../../src/engine/filters/mirror-client.js';
import { PENDING, WRITTEN, type WriteOutcome } from '../../../../src/engine/wire/wire.js';
import { FakeExchange } from '../../../support/engine/fake-exchange.js';

interface Copy {
  readonly head: RequestHead;
  readonly handler: UpstreamHandler;
  body: string;
  ended: boolean;
  aborted: boolean;
  outcome: WriteOutcome;
}

describe('MirrorClient', () => {
  let counted: Record<string, number>;
  let copies: Copy[];
  let unavailable: boolean;
  let client: MirrorClient;

  const endpoint = { address: '10.0.0.9', port: 80 };
  const upstream: UpstreamTarget = {
    key: 'mirror',
    choose: () =>
      unavailable
        ? { status: 503, reason: 'no endpoint' }
        : {
            endpoint,
            active: 0,
            retire: () => undefined,
            close: () => undefined,
            open: ({ head, piece }, handler) => {
              const copy: Copy = {
                head,
                handler,
                body: '',
                ended: piece.last,
                aborted: false,
                outcome: WRITTEN,
              };
              copies.push(copy);
              return {
                reused: false,
                endpoint,
                sendData: (part) => {
                  copy.body += part.view().toString();
                  copy.ended = part.last;
                  return copy.outcome;
                },
                sendTrailers: () => undefined,
                resume: () => undefined,
                tunnelEnd: () => undefined,
                abort: () => {
                  copy.aborted = true;
                },
              };
            },
          },
  };

  beforeEach(() => {
    counted = {};
    copies = [];
    unavailable = false;
    client = new MirrorClient({
      count: (name, by) => {
        counted[name] = (counted[name] ?? 0) + by;
      },
    });
  });

  const piece = (text: string, last: boolean): Piece => {
    const bytes = Buffer.from(text);
    return new Piece().set(bytes, 0, bytes.length, last);
  };

  function posted(): { exchange: FakeExchange; copy: Copy } {
    const exchange = new FakeExchange({
      method: 'POST',
      target: '/a?b=1',
      headers: { via: '1.1 trickster-gateway' },
    });
    exchange.request.contentLength = -1;
    client.send(exchange, upstream);
    return { exchange, copy: copies[0]! };
  }

  it('copies head, path and query, and throws the answer away', () => {
    const exchange = new FakeExchange({ target: '/a?b=1', headers: { via: '1.1 trickster-gateway' } });
    client.send(exchange, upstream);
    const [copy] = copies;
    expect(copy?.head.path).to.equal('/a?b=1');
    expect(copy?.head.fields.getAll('via'), 'added once').to.deep.equal(['1.1 trickster-gateway']);
    expect(copy?.ended).to.equal(true);
    expect(
      copy?.handler.onUpstreamHead(new PlainResponseHead(500, new FieldList()), piece('x', true)),
    ).to.equal(WRITTEN);
    expect(counted).to.deep.equal({ mirrorsSent: 1 });
    expect(exchange.head).to.equal(undefined);
  });

  it('copies the body as it comes and waits for a slow mirror', () => {
    const { exchange, copy } = posted();
    exchange.bodyTap?.onBody(piece('one ', false));
    copy.outcome = PENDING;
    exchange.bodyTap?.onBody(piece('two ', false));
    exchange.bodyTap?.onBody(piece('three ', false));
    exchange.bodyTap?.onBody(piece('four', true));
    expect(copy.body).to.equal('one two ');
    copy.handler.onUpstreamDrain();
    expect(copy.body).to.equal('one two three four');
    expect(copy.ended).to.equal(true);
    copy.handler.onUpstreamTrailers(new FieldList());
    expect(counted).to.deep.equal({ mirrorsSent: 1 });
  });

  it('gives up a copy that is too slow, broken or cut off, and counts it', () => {
    const slow = posted();
    slow.copy.outcome = PENDING;
    slow.exchange.bodyTap?.onBody(piece('x', false));
    slow.exchange.bodyTap?.onBody(piece('x'.repeat(300 * 1024), false));
    expect(slow.copy.aborted).to.equal(true);
    slow.exchange.bodyTap?.onBody(piece('x', true));
    copies = [];
    posted().exchange.bodyTap?.onBodyAbort();
    expect(copies[0]?.aborted).to.equal(true);
    copies = [];
    posted().copy.handler.onUpstreamFailure({ kind: 'connect', detail: 'ECONNREFUSED' });
    unavailable = true;
    client.send(new FakeExchange(), upstream);
    expect(counted).to.deep.equal({ mirrorsDropped: 4 });
  });

  it('bounds the copies on their way', () => {
    for (let i = 0; i < 1_030; i++) client.send(new FakeExchange(), upstream);
    expect(copies.length).to.equal(1024);
    expect(counted).to.deep.equal({ mirrorsDropped: 6 });
    copies[0]?.handler.onUpstreamTrailers(new FieldList());
    client.send(new FakeExchange(), upstream);
    expect(copies.length).to.equal(1025);
  });
});
