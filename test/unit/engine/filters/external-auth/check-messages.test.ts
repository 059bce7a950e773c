import { expect } from 'chai';
import fc from 'fast-check';
import {
  decodeCheckResponse,
  encodeCheckRequest,
} from '../../../../../src/engine/filters/external-auth/check-messages.js';
import { ProtoWriter, readMessage } from '../../../../../src/engine/filters/external-auth/protobuf.js';
import { decodeCheck, encodeVerdict, headerOf } from '../../../../support/engine/ext-authz.js';
import { FakeExchange } from '../../../../support/engine/fake-exchange.js';

describe('messages of ext_authz', () => {
  it('are read by another library as they were written', () => {
    const names = fc.stringMatching(/^[a-z-]{1,20}$/);
    fc.assert(
      fc.property(
        fc.dictionary(names, fc.string()),
        fc.webPath(),
        fc.oneof(fc.constant(-1), fc.nat()),
        (headers, path, size) => {
          const exchange = new FakeExchange({ target: path });
          exchange.request.contentLength = size;
          const seen = decodeCheck(encodeCheckRequest(exchange, Object.entries(headers), undefined));
          expect(seen.attributes.request.http.path).to.equal(path);
          expect(seen.attributes.request.http.size).to.equal(size);
          expect(Object.keys(seen.attributes.request.http.headers)).to.have.members(Object.keys(headers));
        },
      ),
    );
  });

  it('are read as another library has written them', () => {
    const text = fc.stringMatching(/^[!-~]{0,40}$/);
    const value = fc.record({ name: fc.stringMatching(/^[a-z-]{1,20}$/), value: text });
    fc.assert(
      fc.property(fc.array(value), fc.integer({ min: 300, max: 599 }), fc.string(), (headers, code, body) => {
        const bytes = encodeVerdict({
          status: { code: 7, message: body },
          deniedResponse: {
            status: { code },
            headers: headers.map((one) => headerOf(one.name, one.value)),
            body,
          },
        });
        expect(decodeCheckResponse(bytes)).to.deep.equal({
          allowed: false,
          status: code === 304 ? 403 : code,
          headers: headers.map((one) => ({ ...one, action: 'overwrite' })),
          body: Buffer.from(body),
        });
      }),
    );
  });

  it('never allow what is not whole', () => {
    const ok = encodeVerdict({
      status: { code: 0, message: 'fine' },
      okResponse: { headersToRemove: ['x'] },
    });
    expect(decodeCheckResponse(ok)).to.include({ allowed: true });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        // Whatever comes, it is read or refused, and never throws.
        const answer = decodeCheckResponse(Buffer.from(bytes));
        return answer === undefined || !answer.allowed || readMessage(Buffer.from(bytes)) !== undefined;
      }),
    );
    for (const tag of [3, 4, 6, 7])
      expect(readMessage(Buffer.from([8 + tag])), `wire type ${tag}`).to.equal(undefined);
    expect(readMessage(Buffer.from([0x0a, 5, 1])), 'cut').to.equal(undefined);
    expect(readMessage(Buffer.alloc(11, 0xff)), 'a number without an end').to.equal(undefined);
    expect(readMessage(Buffer.from([0x02, 0])), 'field 0').to.equal(undefined);
  });

  it('keep numbers up to 2^53', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.integer({ min: 1, max: 100_000 }), (value, field) => {
        const [first] = readMessage(new ProtoWriter().number(field, value).finish()) ?? [];
        expect([first?.field ?? field, first?.number ?? 0]).to.deep.equal([field, value]);
      }),
    );
  });
});
