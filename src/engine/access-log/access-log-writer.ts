import { pino } from 'pino';

import type { ExchangeRecord } from '../exchange/exchange-record.js';
import type { AccessLogSettings } from '../workers/protocol.js';
import { compileAccessLogFormat, type AccessLogFormat } from './access-log-format.js';

interface Sink {
  write(line: string): unknown;
}

/** Writes sampled lines to standard output in blocks, so that a request never waits for it. */
export class AccessLogWriter {
  readonly #format: AccessLogFormat;
  readonly #sampleRate: number;
  readonly #sink: Sink;
  /** Grows by the rate with each request: a line is written whenever it reaches one. */
  #due = 0;

  constructor(
    { format, sampleRate }: AccessLogSettings,
    sink: Sink = pino.destination({ fd: 1, sync: false, minLength: 4096, periodicFlush: 250 }),
  ) {
    this.#format = compileAccessLogFormat(format);
    this.#sampleRate = sampleRate;
    this.#sink = sink;
  }

  write(record: ExchangeRecord): void {
    this.#due += this.#sampleRate;
    if (this.#due < 1) return;
    this.#due -= 1;
    this.#sink.write(`${this.#format(record, new Date())}\n`);
  }
}
