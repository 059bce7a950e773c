import type { Logger } from '../../telemetry/logger.js';
import { messageOf, OperatorError } from '../../util/errors.js';
import { HandleWire } from './handle-wire.js';
import { NetWire } from './net-wire.js';
import { testWire } from './self-test.js';
import type { FaultReport, Wire } from './wire.js';

export type WirePreference = 'auto' | 'handle' | 'net';

/** Long for a megabyte over loopback, short for a start. */
const SELF_TEST_MS = 2_000;

/**
 * The wire to serve with: `handle` when it passes its self-test on this Node, else `net`, with a line in the log that
 * says why. `handle` asked for by name and not usable rejects with `ERR_WIRE_UNAVAILABLE`.
 */
export async function selectWire(
  preference: WirePreference,
  logger: Logger,
  createHandle: (report: FaultReport) => Wire = (report) => new HandleWire(report),
): Promise<Wire> {
  const report = logFaults(logger);
  if (preference === 'net') return new NetWire(report);

  const handle = await tested(() => createHandle(report));
  if (typeof handle !== 'string') return handle;
  if (preference === 'handle') {
    throw new OperatorError('ERR_WIRE_UNAVAILABLE', `the handle wire does not work on this Node: ${handle}`);
  }
  logger.warn({ node: process.version, reason: handle }, 'handle wire unusable, serving with the net wire');
  return new NetWire(report);
}

/** A wire that another thread has selected: no test. */
export function createWire(name: Wire['name'], logger: Logger): Wire {
  return name === 'handle' ? new HandleWire(logFaults(logger)) : new NetWire(logFaults(logger));
}

/** The wire, or why it cannot be used. */
async function tested(create: () => Wire): Promise<Wire | string> {
  try {
    const wire = create();
    return (await testWire(wire, SELF_TEST_MS)) ?? wire;
  } catch (error) {
    return messageOf(error);
  }
}

function logFaults(logger: Logger): FaultReport {
  return ({ code, error }) => {
    logger.error({ code, err: error }, 'wire fault');
  };
}
