import { GatewayProcess } from '../app/gateway-process.js';
import { readOptions } from '../app/read-options.js';
import type { RawOptions } from '../app/options/schema.js';
import type { Input } from '../app/run-options.js';
import type { PassOutcome } from '../aggregation/control-pass.js';
import { OperatorError } from '../util/errors.js';
import { productVersion } from '../util/version.js';
import { EXIT } from './exit-codes.js';
import { welcome } from './welcome.js';

export interface RunFlags {
  readonly config?: string;
  readonly kubeconfig?: string;
  readonly source?: string;
  readonly workers?: number;
  readonly wire?: RawOptions['engine']['wire'];
  readonly logLevel?: string;
}

/** `trickster-gateway run`: serves until it is told to stop. Resolves with the exit status. */
export async function runCommand(flags: RunFlags): Promise<number> {
  const raw = withFlags(readOptions(flags.config), flags);
  const input = inputOf(flags, raw);
  const gateway = await GatewayProcess.create(
    { input, raw, version: productVersion() },
    firstOnly(raw, input),
  );
  const stopped = stopSignals();
  await gateway.start();
  await stopped.first;
  await gateway.stop(stopped.second);
  return EXIT.fine;
}

/** SIGTERM and SIGINT: the first asks to drain, the second to end at once. */
function stopSignals(): { first: Promise<void>; second: AbortSignal } {
  const second = new AbortController();
  const first = new Promise<void>((resolve) => {
    let asked = false;
    const stop = (): void => {
      if (asked) second.abort();
      asked = true;
      resolve();
    };
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
  });
  return { first, second: second.signal };
}

function inputOf({ source, kubeconfig }: RunFlags, { kubernetes }: RawOptions): Input {
  if (source !== undefined && kubeconfig !== undefined) {
    throw new OperatorError('ERR_USAGE', '--source and --kubeconfig exclude each other');
  }
  if (source !== undefined) return { type: 'files', directory: source };
  const file = kubeconfig ?? kubernetes.connection?.kubeconfig;
  const inCluster = kubernetes.connection?.in_cluster;
  return {
    type: 'cluster',
    ...(file !== undefined && { kubeconfig: file }),
    ...(inCluster !== undefined && { inCluster }),
  };
}

function withFlags(raw: RawOptions, { workers, wire, logLevel }: RunFlags): RawOptions {
  return {
    ...raw,
    engine: {
      workers: workers ?? raw.engine.workers,
      wire: wire ?? raw.engine.wire,
    },
    logging: { log_level: logLevel ?? raw.logging.log_level },
  };
}

/** In front of a terminal: says once what is served where. */
function firstOnly(raw: RawOptions, input: Input): (outcome: PassOutcome) => void {
  let said = input.type !== 'files';
  return (outcome) => {
    if (said) return;
    said = true;
    process.stdout.write(welcome(outcome, raw));
  };
}
