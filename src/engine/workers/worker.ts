/** Entry of a worker thread: a data plane that does what the main thread asks. */
import { parentPort, workerData } from 'node:worker_threads';

import { createLogger, type LogLevel } from '../../telemetry/logger.js';
import { TrafficCounters } from '../../telemetry/traffic-counters.js';
import { messageOf } from '../../util/errors.js';
import { DataPlane } from '../data-plane/data-plane.js';
import { selectWire } from '../wire/select-wire.js';
import type { FromWorker, ToWorker, WorkerStart } from './protocol.js';

if (!parentPort) throw new Error('this file is the entry of a worker thread');
const port = parentPort;

function answer(message: FromWorker): void {
  port.postMessage(message);
}

// What the pool hands over; nobody else starts this file.
const { counters, options } = workerData as WorkerStart;
const logger = createLogger(options.logLevel as LogLevel).child({ component: 'engine' });
const wire = await selectWire(options.wire, logger);
const dataPlane = new DataPlane({ wire, options, counters: new TrafficCounters(counters), logger });

async function handle(message: ToWorker): Promise<void> {
  switch (message.type) {
    case 'prepare':
      try {
        dataPlane.prepare(message.revision, message.delta, message.rows);
        answer({ type: 'prepared', revision: message.revision });
      } catch (error) {
        logger.error({ err: error }, 'revision cannot be served');
        answer({ type: 'refused', revision: message.revision, reason: messageOf(error) });
      }
      return;
    case 'commit':
      answer({
        type: 'committed',
        revision: message.revision,
        outcomes: await dataPlane.commit(message.revision),
      });
      return;
    case 'discard':
      dataPlane.discard();
      return;
    case 'drain':
      await dataPlane.drain(message.timeoutMs);
      answer({ type: 'drained' });
  }
}

// Invariant 10: no input ends the process. A fault that got here is a bug; it is told, and the thread serves on.
process.on('uncaughtException', (error) => {
  logger.error({ err: error }, 'unexpected error in a worker');
});

port.on('message', (message: ToWorker) => {
  void handle(message);
});
answer({ type: 'started', wire: wire.name });
