import type { RetryPolicy } from '../../../src/ir/http.js';
import { DEFAULT_LISTENER_SETTINGS } from '../../../src/ir/listener.js';
import type { DownstreamStream } from '../../../src/engine/exchange/downstream.js';
import { FieldList, type Fields } from '../../../src/engine/exchange/fields.js';
import { PlainRequestHead, type ResponseHead } from '../../../src/engine/exchange/heads.js';
import { HttpExchange } from '../../../src/engine/exchange/http-exchange.js';
import { Piece } from '../../../src/engine/exchange/piece.js';
import { RELAY, type ResponseTap, type SWALLOW } from '../../../src/engine/exchange/response-cache.js';
import type { BackendEntry, RuleEntry } from '../../../src/engine/exchange/route-entry.js';
import { DeadlinePool } from '../../../src/engine/exchange/deadlines.js';
import { TimerWheel } from '../../../src/engine/exchange/timer-wheel.js';
import type {
  EndpointConnector,
  Unavailable,
  UpstreamHandler,
  UpstreamStream,
} from '../../../src/engine/exchange/upstream.js';
import { WRITTEN, type WriteOutcome } from '../../../src/engine/wire/wire.js';
import { contextOf } from './exchange-fixture.js';

/** The client: notes what it is told. */
class Client implements DownstreamStream {
  readonly heard: string[] = [];
  outcome: WriteOutcome = WRITTEN;
  readonly context;

  constructor(maxRequestBodyBytes: number) {
    this.context = contextOf({ settings: { ...DEFAULT_LISTENER_SETTINGS, maxRequestBodyBytes } });
  }

  sendInformational(head: ResponseHead): void {
    this.heard.push(`interim ${head.status}`);
  }

  sendHead(head: ResponseHead, piece: Piece): WriteOutcome {
    this.heard.push(`head ${head.status}`);
    return this.sendData(piece);
  }

  sendData(piece: Piece): WriteOutcome {
    this.heard.push(`data ${piece.view().toString().trim()}${piece.last ? '.' : ''}`);
    return this.outcome;
  }

  sendTrailers(fields: Fields): void {
    this.heard.push(`trailers ${fields.toList().toFlat().join(' ')}`);
  }

  abort(): void {
    this.heard.push('abort');
  }

  resumeBody(): void {
    this.heard.push('resume body');
  }

  pauseBody(): void {
    this.heard.push('pause body');
  }

  tunnelEnd(): undefined {
    return undefined;
  }

  release(): void {
    this.heard.push('release');
  }
}

/** One attempt. */
class Attempt implements UpstreamStream {
  readonly heard: string[] = [];
  outcome: WriteOutcome = WRITTEN;

  constructor(
    readonly endpoint: { readonly address: string; readonly port: number },
    readonly reused: boolean,
    readonly body: string,
    readonly handler: UpstreamHandler,
  ) {}

  sendData(piece: Piece): WriteOutcome {
    this.heard.push(`data ${piece.view().toString()}${piece.last ? '.' : ''}`);
    return this.outcome;
  }

  sendTrailers(): void {
    this.heard.push('trailers');
  }

  resume(): void {
    this.heard.push('resume');
  }

  tunnelEnd(): undefined {
    return undefined;
  }

  abort(): void {
    this.heard.push('abort');
  }
}

/** The cache: notes what it hears of an answer. */
export class Tap implements ResponseTap {
  readonly heard: string[] = [];
  verdict: typeof RELAY | typeof SWALLOW = RELAY;
  isWanted = false;
  onHead(): typeof RELAY | typeof SWALLOW {
    this.heard.push('head');
    return this.verdict;
  }
  onData(piece: Piece): void {
    this.heard.push(`data ${piece.view().toString()}`);
  }
  onEnd(): void {
    this.heard.push('end');
  }
  onAbort(): void {
    this.heard.push('abort');
  }
  onFailure(): boolean {
    return false;
  }
  wantsRest(): boolean {
    return this.isWanted;
  }
}

interface Options {
  readonly method?: string;
  readonly upgrade?: string;
  readonly first?: string;
  readonly last?: boolean;
  readonly limit?: number;
  readonly retry?: RetryPolicy;
  readonly reused?: boolean;
  readonly isGrpc?: boolean;
  /** What the balancer gives, one after the other; the last one stays. */
  readonly choices?: readonly (number | Unavailable)[];
  readonly upstream?: undefined;
  readonly tap?: Tap;
}

const NO_STEPS = { requestSteps: [], responseSteps: [] };

/** One exchange between such a client and such backends, begun. */
export function exchangeBetween(options: Options = {}) {
  const { method = 'GET', first = '', last = true, choices = [1], tap } = options;
  const client = new Client(options.limit ?? -1);
  const attempts: Attempt[] = [];
  const ended: string[] = [];
  let chosen = 0;
  let passedMs = 0;
  const connector = (port: number): EndpointConnector => {
    const endpoint = { address: '127.0.0.1', port };
    const open: EndpointConnector['open'] = ({ piece }, handler) => {
      const attempt = new Attempt(endpoint, options.reused === true, piece.view().toString(), handler);
      attempts.push(attempt);
      return attempt;
    };
    return { endpoint, active: 0, open, retire: () => undefined, close: () => undefined };
  };
  const choose = (): EndpointConnector | Unavailable => {
    const choice = choices[Math.min(chosen++, choices.length - 1)] ?? 1;
    return typeof choice === 'number' ? connector(choice) : choice;
  };
  const backend: BackendEntry = {
    ...NO_STEPS,
    weight: 1,
    upstream: 'upstream' in options ? undefined : { key: 'u', choose },
    refusal: undefined,
    policy: undefined,
  };
  const rule: RuleEntry = {
    ...NO_STEPS,
    route: 'r',
    kind: 'HTTPRoute',
    index: 0,
    name: undefined,
    refusal: undefined,
    backends: { entries: [backend], next: () => backend },
    requestMs: 0,
    backendRequestMs: 0,
    awaitHeadMs: 0,
    retry: options.retry,
    affinity: undefined,
  };
  const wheel = new TimerWheel(20, () => performance.now() + passedMs);
  const services = {
    router: { route: () => ({ rule, matchedPrefix: undefined }) },
    cache: undefined,
    observer: {
      onExchangeEnd: (record: { termination: string; status: number }) =>
        ended.push(`${record.termination} ${record.status}`),
      onRequestRefused: () => undefined,
    },
    counters: new Float64Array(16),
    deadlines: new DeadlinePool(wheel),
  };
  const request = new PlainRequestHead({
    method,
    scheme: 'http',
    authority: 'a.test',
    path: '/',
    fields: new FieldList(options.isGrpc === true ? ['content-type', 'application/grpc'] : []),
    upgrade: options.upgrade ?? '',
    contentLength: last ? first.length : -1,
  });
  const bytes = Buffer.from(first);
  const exchange = new HttpExchange(services, client, request, new Piece().set(bytes, 0, bytes.length, last));
  exchange.tap = tap;
  exchange.begin();
  /** What is due by now is told. */
  const tick = (): void => {
    passedMs += 100;
    wheel.advance();
  };
  return { client, attempts, ended, exchange, services, tick };
}
