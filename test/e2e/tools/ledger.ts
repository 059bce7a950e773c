/**
 * ledger ADDRESS --domain D [--rate N] [--routes N]: sends N requests a second, a third of them over TLS, until SIGTERM. Each names by
 * its host the route that it must hit; each response names the one that it did hit (`x-route`). Where an answer names a
 * revision, its request filter (told by the origin), its backend and its response filter must be of the same one.
 * Prints the sums and exits 1 when anything was lost, misled or mixed.
 */
import { Agent, request as plain, type IncomingMessage } from 'node:http';
import { Agent as SecureAgent, request as secure } from 'node:https';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    domain: { type: 'string', default: '' },
    rate: { type: 'string', default: '200' },
    routes: { type: 'string', default: '3' },
  },
});
const address = positionals[0] ?? '';
const timeout = 10_000;
const changing = 'flip';
const routes = [changing, ...Array.from({ length: Number(values.routes) }, (_, index) => `r${index}`)];
const agents = {
  kept: new Agent({ keepAlive: true, maxSockets: 20 }),
  fresh: new Agent({ keepAlive: false }),
  tls: new SecureAgent({ keepAlive: false, rejectUnauthorized: false, maxCachedSessions: 0 }),
};

interface Answer {
  readonly pod: string;
  readonly revision?: string;
}

let sent = 0;
let good = 0;
let repeated = 0;
const problems = new Map<string, number>();
const revisions = new Map<string, number>();

function problem(text: string): void {
  const count = (problems.get(text) ?? 0) + 1;
  problems.set(text, count);
  if (count === 1) console.log(`${new Date().toISOString()} first ${text}`);
}

function judge(route: string, response: IncomingMessage, body: string): string | undefined {
  const status = response.statusCode ?? 0;
  if (status < 200 || status > 299) return `${route}: status ${status}`;
  const hit = String(response.headers['x-route']);
  if (hit !== route) return `${route}: answered by ${hit}`;
  const answered = String(response.headers['x-revision'] ?? '');
  if (route !== changing) return answered === '' ? undefined : `${route}: has revision ${answered}`;
  return judgeRevision(answered, body);
}

function judgeRevision(answered: string, body: string): string | undefined {
  const { pod, revision = '' } = JSON.parse(body) as Answer;
  const backend = pod.split('-')[0] ?? '';
  revisions.set(answered, (revisions.get(answered) ?? 0) + 1);
  return answered === revision && answered === backend
    ? undefined
    : `${changing}: request filter ${revision}, backend ${backend}, response filter ${answered}`;
}

function send(route: string, kind: keyof typeof agents, again = false): Promise<void> {
  const host = `${route}.${values.domain}`;
  const options = { agent: agents[kind], timeout, headers: { host }, servername: host };
  return new Promise((resolve) => {
    const fail = (text: string): void => {
      problem(`${route} (${kind}): ${text}`);
      resolve();
    };
    const url = `${kind === 'tls' ? 'https' : 'http'}://${address}/`;
    const outgoing = (kind === 'tls' ? secure : plain)(url, options, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.on('error', (error) => {
        fail(`body: ${error.message}`);
      });
      response.on('end', () => {
        const wrong = judge(route, response, body);
        if (wrong === undefined) good++;
        else problem(wrong);
        resolve();
      });
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error('timeout')));
    outgoing.on('error', (error) => {
      // A kept connection may be closed just when it is used again: RFC 9110 §9.2.2 lets a GET be sent again then.
      if (outgoing.reusedSocket && !again && error.message !== 'timeout') {
        repeated++;
        void send(route, 'fresh', true).then(resolve);
        return;
      }
      fail(error.message);
    });
    outgoing.end();
  });
}

const kinds = ['kept', 'fresh', 'tls'] as const;
const open = new Set<Promise<void>>();
const begin = performance.now();
const ticker = setInterval(() => {
  // The rate holds even when a tick comes late.
  const due = ((performance.now() - begin) / 1000) * Number(values.rate);
  for (; sent < due; sent++) {
    // Half of all go to the route that changes.
    const route = sent % 2 === 0 ? changing : (routes[sent % routes.length] ?? changing);
    const pending = send(route, kinds[sent % kinds.length] ?? 'kept');
    open.add(pending);
    void pending.then(() => open.delete(pending));
  }
}, 5);

async function finish(): Promise<void> {
  clearInterval(ticker);
  await Promise.all(open);
  const list = [...problems].map(([text, count]) => `${count} × ${text}`).join('; ');
  const seen = [...revisions].map(([revision, count]) => `${count} ${revision}`).join(' and ');
  console.log(
    `${sent} requests, ${good} good, ${sent - good} not (${list}), ${repeated} repeated, ${seen} answers`,
  );
  // A run in which nothing changed proves nothing.
  process.exit(good === sent && revisions.size > 1 ? 0 : 1);
}

process.on('SIGTERM', () => void finish());
