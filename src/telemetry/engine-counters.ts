/**
 * Numbers of one worker that are not bound to a single exchange, as cells of an array given from outside (a view of
 * shared memory that the main thread reads). Only this worker writes them, so a plain `+=` is enough.
 */
export type Counters = Float64Array;

export const DOWNSTREAM_CONNECTIONS_ACTIVE = 0;
export const DOWNSTREAM_CONNECTIONS_TOTAL = 1;
/** Connections refused at the listener's limit. */
export const DOWNSTREAM_CONNECTIONS_REFUSED = 2;
export const DOWNSTREAM_REQUESTS_TOTAL = 3;
export const DOWNSTREAM_REQUESTS_ACTIVE = 4;
/** Requests refused by the parser: no exchange was begun. */
export const DOWNSTREAM_PROTOCOL_ERRORS = 5;
export const DOWNSTREAM_HEAD_TIMEOUTS = 6;
export const UPSTREAM_CONNECTIONS_ACTIVE = 7;
export const UPSTREAM_CONNECTIONS_TOTAL = 8;
export const UPSTREAM_CONNECT_FAILURES = 9;
export const UPSTREAM_REQUESTS_TOTAL = 10;
export const UPSTREAM_RETRIES_TOTAL = 11;
/** Idle upstream connections closed because they sent bytes unasked. */
export const UPSTREAM_POISONED_TOTAL = 12;
export const TUNNELS_ACTIVE = 13;
export const COUNTERS_LENGTH = 16;
