import type { TrafficCounters } from '../../telemetry/traffic-counters.js';
import type { DownstreamContext } from '../exchange/downstream.js';
import type { ExchangeObserver, ExchangeRecord } from '../exchange/exchange-record.js';

/** Gets one line of the access log for each exchange. */
export interface AccessLog {
  write(record: ExchangeRecord): void;
}

/** Counts every exchange in shared memory, and hands it to the access log when there is one. */
export class TrafficObserver implements ExchangeObserver {
  readonly #counters: TrafficCounters;
  readonly #accessLog: AccessLog | undefined;
  readonly #rows = new Map<string, number>();
  /** Requests of one listener often follow each other. */
  #lastListener = '';
  #lastRow = 0;
  /** Reused: one object less for each request. */
  readonly #bytes = { received: 0, sent: 0 };

  constructor(counters: TrafficCounters, accessLog: AccessLog | undefined) {
    this.#counters = counters;
    this.#accessLog = accessLog;
  }

  addRow(listener: string, row: number): void {
    this.#rows.set(listener, row);
    this.#lastListener = '';
  }

  rowOf(listener: string): number {
    if (listener !== this.#lastListener) {
      this.#lastListener = listener;
      this.#lastRow = this.#rows.get(listener) ?? 0;
    }
    return this.#lastRow;
  }

  onRequestRefused({ listener }: DownstreamContext, status: number): void {
    const bytes = this.#bytes;
    bytes.received = 0;
    bytes.sent = 0;
    this.#counters.countRequest(this.rowOf(listener), status, 0, bytes);
  }

  onExchangeEnd(record: ExchangeRecord): void {
    // A client that left before an answer gets the status that the log of many proxies gives it.
    const status = record.status === 0 ? 499 : record.status;
    const bytes = this.#bytes;
    bytes.received = record.requestBytes;
    bytes.sent = record.responseBytes;
    const row = this.rowOf(record.context.listener);
    this.#counters.countRequest(row, status, record.endedAt - record.startedAt, bytes);
    this.#counters.countCacheResult(record.cacheResult === '' ? 'proxy-only' : record.cacheResult);
    this.#accessLog?.write(record);
  }
}
