import { NEVER, of, startWith, type Observable } from 'rxjs';

/** One reign of this process. Everything that is written under it asks before each write whether it still lasts. */
export interface LeadershipTerm {
  /** Grows with every term of any process. */
  readonly number: number;
  /** Aborted when the term ends: requests in flight end with it. */
  readonly signal: AbortSignal;
  /** False from the renew deadline on, also when this process was stopped for a while and no timer has fired yet. */
  isCurrent(): boolean;
}

export type Leadership =
  { readonly leading: false } | { readonly leading: true; readonly term: LeadershipTerm };

export const NOT_LEADING: Leadership = { leading: false };

/** Who decides which replica writes. */
export interface LeaderElection {
  /** State: starts with the present one. */
  readonly leadership$: Observable<Leadership>;
  start(): void;
  /** Ends the term, then gives the Lease back so that a successor need not wait. Never rejects. */
  stop(): Promise<void>;
}

/** Without an election (`leader_election.enabled: false`) every replica writes until it stops. */
export function withoutElection(): LeaderElection {
  const abort = new AbortController();
  const { signal } = abort;
  const term: LeadershipTerm = { number: 1, signal, isCurrent: () => !signal.aborted };
  return {
    leadership$: NEVER.pipe(startWith<Leadership>({ leading: true, term })),
    start: () => undefined,
    stop: () => {
      abort.abort();
      return Promise.resolve();
    },
  };
}

/** For `read_only`: nobody writes. */
export function neverLeading(): LeaderElection {
  return { leadership$: of(NOT_LEADING), start: () => undefined, stop: () => Promise.resolve() };
}
