import type { DownstreamContext } from '../../src/engine/exchange/downstream.js';
import type { ExchangeRecord } from '../../src/engine/exchange/exchange-record.js';
import { FieldList } from '../../src/engine/exchange/fields.js';
import { PlainRequestHead } from '../../src/engine/exchange/heads.js';
import { DEFAULT_LISTENER_SETTINGS } from '../../src/ir/listener.js';

const CONTEXT: DownstreamContext = {
  listener: 'tcp/127.0.0.1:80',
  settings: DEFAULT_LISTENER_SETTINGS,
  secure: false,
  sniServer: undefined,
  remoteAddress: '192.0.2.7',
  remotePort: 40_000,
  localAddress: '127.0.0.1',
  localPort: 80,
  trusted: false,
  addForwarded: () => undefined,
};

/** The record of an ordinary request, with what a test wants otherwise. */
export function exchangeRecord(difference: Partial<ExchangeRecord>): ExchangeRecord {
  const fields = new FieldList();
  fields.add('user-agent', 'curl/8');
  const request = new PlainRequestHead({
    method: 'GET',
    scheme: 'http',
    authority: 'a.test',
    path: '/',
    fields,
  });
  return {
    context: CONTEXT,
    request,
    originalMethod: 'GET',
    originalAuthority: 'a.test',
    originalPath: '/',
    rule: {
      route: 'HTTPRoute/a/b@Gateway/a/g',
      kind: 'HTTPRoute',
      index: 0,
      name: undefined,
      refusal: undefined,
      requestSteps: [],
      responseSteps: [],
      backends: { entries: [], next: () => undefined },
      requestMs: 0,
      backendRequestMs: 0,
      awaitHeadMs: 0,
      retry: undefined,
      affinity: undefined,
    },
    backend: undefined,
    endpoint: undefined,
    attempts: 1,
    status: 200,
    requestBytes: 0,
    responseBytes: 0,
    startedAt: 0,
    upstreamStartedAt: 0,
    upstreamHeadAt: 0,
    responseHeadAt: 0,
    endedAt: 1,
    cacheResult: '',
    termination: 'complete',
    detail: '',
    ...difference,
  };
}
