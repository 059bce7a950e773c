import type { Contender, ContenderName } from './contenders/contender.js';
import type { LoadResult } from './load/load-result.js';

/** Something measured: a contender under a load. */
export interface Lane {
  /** As in the results; the contender's name unless a scenario has several loads for one. */
  readonly name: string;
  readonly contender: ContenderName;
  load(contender: Contender, seconds: number): Promise<LoadResult>;
}

/** What a ratio must reach. */
export interface Target {
  /** A lane. */
  readonly against: string;
  readonly must: number;
  readonly stretch?: number;
}

/** A figure beside the common ones, with the most it may be when there is a target. */
export interface Fact {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly limit?: number;
}

export interface Scenario {
  readonly name: string;
  readonly title: string;
  /** Which ratio counts: of capacity per core (CPU time of a request), or of latency. */
  readonly measure: 'cpu' | 'p99';
  readonly traffic: 'http' | 'grpc';
  /** Virtual hosts to configure. */
  readonly hosts?: number;
  readonly lanes: readonly Lane[];
  readonly targets: readonly Target[];
  /** Lane that the targets are for; `trickster` unless said. */
  readonly subject?: string;
  /** Most CPU time in µs that the subject may take more than a lane. */
  readonly surcharge?: { readonly over: string; readonly micros: number };
  /** Called once, when everything is up and nothing is measured. */
  prepare?(contenders: ReadonlyMap<ContenderName, Contender>): Promise<void>;
  /** Called after the rounds. */
  inspect?(contenders: ReadonlyMap<ContenderName, Contender>): Promise<readonly Fact[]>;
}

/** The same load for several contenders. */
export function lanes(contenders: readonly ContenderName[], load: Lane['load']): readonly Lane[] {
  return contenders.map((name) => ({ name, contender: name, load }));
}
