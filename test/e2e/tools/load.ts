/**
 * load URL --host H [--rate N] [--max-failures N] [--expect STATUS]: sends N requests a second until SIGTERM, then prints
 * what became of them and exits 1 when more than allowed failed. Half of the requests use
 * kept connections, half use new ones. At most ten minutes.
 */
import { Agent, request } from 'node:http';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    host: { type: 'string' },
    rate: { type: 'string', default: '200' },
    'max-failures': { type: 'string', default: '0' },
    expect: { type: 'string', default: '200' },
  },
});
const url = new URL(positionals[0] ?? '');
const limit = 600_000;
const timeout = 10_000;
const kept = new Agent({ keepAlive: true, maxSockets: 50 });
const fresh = new Agent({ keepAlive: false });

let sent = 0;
let succeeded = 0;
let repeated = 0;
let slowest = 0;
let slow = 0;
const failures = new Map<string, number>();

function fail(reason: string): void {
  failures.set(reason, (failures.get(reason) ?? 0) + 1);
  if (failures.get(reason) === 1) console.log(`${new Date().toISOString()} first ${reason}`);
}

function send(agent: Agent, again = false): Promise<void> {
  const begin = performance.now();
  return new Promise((resolve) => {
    const outgoing = request(
      url,
      { agent, timeout, headers: { host: values.host ?? url.host } },
      (response) => {
        response.resume();
        response.on('error', (error) => {
          fail(`body: ${error.message}`);
          resolve();
        });
        response.on('end', () => {
          const time = performance.now() - begin;
          slowest = Math.max(slowest, time);
          if (time > 1000) slow++;
          if (String(response.statusCode) === values.expect) succeeded++;
          else fail(`status ${String(response.statusCode)}`);
          resolve();
        });
      },
    );
    outgoing.on('timeout', () => outgoing.destroy(new Error('timeout')));
    outgoing.on('error', (error) => {
      // A kept connection may be closed just when it is used again: RFC 9110 §9.2.2 lets a GET be sent again then.
      if (outgoing.reusedSocket && !again && error.message !== 'timeout') {
        repeated++;
        void send(fresh, true).then(resolve);
        return;
      }
      fail(error.message);
      resolve();
    });
    outgoing.end();
  });
}

async function finish(): Promise<void> {
  clearInterval(ticker);
  await Promise.all(open);
  const failed = sent - succeeded;
  const reasons = [...failures].map(([reason, count]) => `${count} × ${reason}`).join(', ');
  console.log(
    `${sent} requests, ${succeeded} good, ${failed} failed (${reasons}), ${repeated} repeated, ` +
      `${slow} over 1 s, slowest ${Math.round(slowest)} ms`,
  );
  process.exit(failed > Number(values['max-failures']) || succeeded === 0 ? 1 : 0);
}

const open = new Set<Promise<void>>();
const begin = performance.now();
const ticker = setInterval(() => {
  // The rate holds even when a tick comes late.
  const due = ((performance.now() - begin) / 1000) * Number(values.rate);
  for (; sent < due; sent++) {
    const pending = send(sent % 2 === 0 ? kept : fresh);
    open.add(pending);
    void pending.then(() => open.delete(pending));
  }
}, 5);

process.on('SIGTERM', () => void finish());
setTimeout(() => void finish(), limit).unref();
