import { expect } from 'chai';

import { compileAccessLogFormat } from '../../../../src/engine/access-log/access-log-format.js';
import { AccessLogWriter } from '../../../../src/engine/access-log/access-log-writer.js';
import { exchangeRecord } from '../../../support/exchange-record.js';

const TIME = new Date(Date.UTC(2026, 10, 9, 8, 7, 6, 5));
const record = exchangeRecord({
  originalMethod: 'GET',
  originalPath: '/a?b=1',
  status: 200,
  responseBytes: 12,
  startedAt: 10,
  endedAt: 11.5,
  cacheResult: 'hit',
});

describe('compileAccessLogFormat', () => {
  for (const [format, line] of [
    ['common', '192.0.2.7 - - [09/Nov/2026:08:07:06 +0000] "GET /a?b=1 HTTP/1.1" 200 12'],
    ['combined', '192.0.2.7 - - [09/Nov/2026:08:07:06 +0000] "GET /a?b=1 HTTP/1.1" 200 12 "-" "curl/8"'],
    ['%m %U%q %s %D us 100%%', 'GET /a?b=1 200 1500 us 100%'],
    ['%{cache-status}x %{engine}x %{path-config}x', 'hit ObjectProxyCache HTTPRoute/a/b@Gateway/a/g/0'],
    ['%{listener}x %{endpoint}x %{termination}x', 'tcp/127.0.0.1:80 - complete'],
  ] as const) {
    it(`writes ${format}`, () => {
      expect(compileAccessLogFormat(format)(record, TIME)).to.equal(line);
    });
  }

  it('writes JSON without what is not known', () => {
    const line: unknown = JSON.parse(compileAccessLogFormat('json')(record, TIME));
    expect(line).to.include({
      time: '2026-11-09T08:07:06.005Z',
      client: '192.0.2.7',
      status: 200,
      durationMs: 1.5,
      cache: 'hit',
      userAgent: 'curl/8',
    });
    expect(line).not.to.have.property('endpoint');
  });

  it('does not let a client write lines of its own', () => {
    const forged = exchangeRecord({ originalPath: '/"\n127.0.0.1 - - forged' });
    expect(compileAccessLogFormat('common')(forged, TIME)).not.to.include('\n');
    expect(compileAccessLogFormat('common')(forged, TIME)).to.include('\\"\\n');
  });

  it('names a token that it does not know', () => {
    expect(() => compileAccessLogFormat('%h %Z')).to.throw('%Z is not a token');
    expect(() => compileAccessLogFormat('%{colour}x')).to.throw('known: cache-status');
  });
});

describe('AccessLogWriter', () => {
  it('writes the share of the requests that it is told to', () => {
    const lines: string[] = [];
    const sink = { write: (line: string) => lines.push(line) };
    const writer = new AccessLogWriter({ enabled: true, format: '%s', sampleRate: 0.25 }, sink);
    for (let i = 0; i < 20; i += 1) writer.write(record);
    expect(lines).to.deep.equal(['200\n', '200\n', '200\n', '200\n', '200\n']);
  });
});
