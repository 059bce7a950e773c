/**
 * request URL [--host H] [--header N=V]... [--status N] [--body REGEX] [--response-header N=REGEX]
 *         [--no-response-header N] [--subject CN] [--at leader|every]: sends one request and checks the answer.
 * Exits 1 when the answer is another one; prints the answer either way.
 *
 * Behind an address answer all replicas of the product, each as far as it has read. `--at every` asks them one by one
 * instead, so that nothing of an earlier state is left when it has succeeded; `--at leader` asks the one whose word the
 * statuses are.
 */
import { execFileSync } from 'node:child_process';
import { request as plain, type IncomingMessage } from 'node:http';
import { request as secure } from 'node:https';
import path from 'node:path';
import { TLSSocket } from 'node:tls';
import { parseArgs } from 'node:util';

const { values: wanted, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    host: { type: 'string' },
    header: { type: 'string', multiple: true, default: [] },
    status: { type: 'string' },
    body: { type: 'string', multiple: true, default: [] },
    'response-header': { type: 'string', multiple: true, default: [] },
    'no-response-header': { type: 'string', multiple: true, default: [] },
    subject: { type: 'string' },
    at: { type: 'string' },
  },
});
const timeout = 10_000;

function split(pair: string): [string, string] {
  const at = pair.indexOf('=');
  return [pair.slice(0, at).trim().toLowerCase(), pair.slice(at + 1).trim()];
}

/** The given URL, or what it becomes at the replicas that are to be asked. */
function targets(): URL[] {
  const url = new URL(positionals[0] ?? '');
  if (wanted.at === undefined) return [url];
  const replicas = path.join(import.meta.dirname, 'bin/replicas');
  const hosts = execFileSync(replicas, wanted.at === 'leader' ? ['--leader'] : [], { encoding: 'utf8' });
  return hosts
    .trim()
    .split('\n')
    .map((host) => {
      const target = new URL(url);
      target.hostname = host;
      return target;
    });
}

function send(url: URL): Promise<{ response: IncomingMessage; body: string; subject: string }> {
  return new Promise((resolve, reject) => {
    const headers = Object.fromEntries(wanted.header.map(split));
    const host = wanted.host ?? url.host;
    const options = {
      headers: { ...headers, host },
      agent: false as const,
      timeout,
      rejectUnauthorized: false, // the cases look at the certificate themselves
      servername: host.replace(/:\d+$/, ''),
    };
    const outgoing = (url.protocol === 'https:' ? secure : plain)(url, options, (response) => {
      const { socket } = response;
      const name = socket instanceof TLSSocket ? socket.getPeerCertificate().subject.CN : '';
      const subject = Array.isArray(name) ? name.join(',') : (name ?? '');
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.on('end', () => {
        resolve({ response, body, subject });
      });
      response.on('error', reject);
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer in ${timeout} ms`)));
    outgoing.on('error', reject);
    outgoing.end();
  });
}

function check({ response, body, subject }: Awaited<ReturnType<typeof send>>): string[] {
  const header = (name: string): string => String(response.headers[name] ?? '');
  return [
    wanted.status !== undefined &&
      String(response.statusCode) !== wanted.status &&
      `status is not ${wanted.status}`,
    wanted.subject !== undefined &&
      subject !== wanted.subject &&
      `subject is ${subject}, not ${wanted.subject}`,
    ...wanted.body.map((text) => !new RegExp(text, 's').test(body) && `body does not match ${text}`),
    ...wanted['response-header'].map((pair) => {
      const [name, value] = split(pair);
      return !new RegExp(value).test(header(name)) && `${name} is "${header(name)}", not ${value}`;
    }),
    ...wanted['no-response-header'].map((name) => header(name.toLowerCase()) !== '' && `${name} is there`),
  ].filter((problem) => problem !== false);
}

try {
  for (const url of targets()) {
    const answer = await send(url);
    console.log(
      url.host,
      answer.response.statusCode,
      answer.subject,
      JSON.stringify(answer.response.headers),
      answer.body,
    );
    const problems = check(answer);
    for (const problem of problems) console.log(problem);
    if (problems.length > 0) process.exitCode = 1;
  }
} catch (error) {
  console.log(String(error));
  process.exitCode = 1;
}
