import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { setTimeout as wait } from 'node:timers/promises';
import type { LaneContext } from './lane-context.js';
import { firstFault, patternOf } from './pattern.js';
import type { Task } from './task.js';

const STREAMS = 6;
const TASKS_PER_CONNECTION = 60;
const PATIENCE_MS = 60_000;

/** Requests over HTTP/2 connections, several at a time. */
export async function http2Lane(context: LaneContext, secure: boolean): Promise<void> {
  const url = secure ? `https://127.0.0.1:${context.ports.https}` : `http://127.0.0.1:${context.ports.http}`;
  const untilNothingIsLeft = async (): Promise<boolean> => {
    const session = connect(url, { rejectUnauthorized: false });
    session.on('error', () => undefined);
    const streams = Array.from({ length: STREAMS }, () => useSession(session, context));
    const isOver = (await Promise.all(streams)).includes(true);
    if (context.dice.chance(30)) session.destroy();
    else session.close();
    return isOver;
  };
  while (!(await untilNothingIsLeft()));
}

/** True when there is nothing more to do. */
async function useSession(session: ClientHttp2Session, context: LaneContext): Promise<boolean> {
  for (let i = 0; i < TASKS_PER_CONNECTION / STREAMS && !session.destroyed && !session.closed; i++) {
    const task = context.next();
    if (!task) return true;
    await new Ask(session, task, context).end();
  }
  return false;
}

/** One request on its stream. */
class Ask {
  readonly #session: ClientHttp2Session;
  readonly #stream: ClientHttp2Stream;
  readonly #task: Task;
  readonly #context: LaneContext;
  readonly #abandons: boolean;
  #status = 0;
  #received = 0;
  #isEnded = false;

  constructor(session: ClientHttp2Session, task: Task, context: LaneContext) {
    this.#session = session;
    this.#task = task;
    this.#context = context;
    this.#abandons = context.dice.chance(context.violence);
    const { target, upload } = task;
    this.#stream = session.request(
      {
        ':method': upload > 0 ? 'POST' : 'GET',
        ':path': target,
        ':authority': 'stress.test',
        ...(upload > 0 && { 'content-length': upload }),
      },
      { endStream: upload === 0 },
    );
    this.#stream.on('error', () => undefined);
    // Node tells of the head a tick later than of data that came with it, unless nobody listens for data before.
    this.#stream.on('response', (headers) => {
      this.#status = headers[':status'] ?? 0;
      this.#read(context.dice.chance(20));
    });
    if (upload > 0) void this.#send();
  }

  async end(): Promise<void> {
    if (await closed(this.#stream)) this.#judge();
    else this.#fault('no answer in time');
  }

  #read(slowly: boolean): void {
    const { dice } = this.#context;
    const stream = this.#stream;
    stream.on('end', () => (this.#isEnded = true));
    stream.on('data', (bytes: Buffer) => {
      const wrong = this.#status === 200 ? firstFault(bytes, this.#task.seed, this.#received) : -1;
      if (wrong >= 0) this.#fault(`wrong byte at ${wrong}`);
      this.#received += bytes.length;
      if (this.#abandons && dice.chance(20)) stream.close(constants.NGHTTP2_CANCEL);
      else if (slowly && dice.chance(30)) {
        stream.pause();
        void wait(dice.roll(4)).then(() => stream.resume());
      }
    });
  }

  #judge(): void {
    const { framing, size } = this.#task;
    const isWhole = this.#isEnded && this.#stream.rstCode === 0;
    if (this.#abandons || (this.#session.destroyed && !isWhole)) return;
    if (framing === 'cut') {
      if (isWhole && this.#status === 200) this.#fault('a cut body looks complete');
    } else if (!isWhole) this.#fault(`reset with ${this.#stream.rstCode} after ${this.#received} bytes`);
    else if (this.#status !== 200) this.#fault(`status ${this.#status}`);
    else if (this.#received !== size) this.#fault(`${this.#received} of ${size} bytes`);
    else this.#context.done(this.#task);
  }

  async #send(): Promise<void> {
    const { seed, upload } = this.#task;
    const { dice } = this.#context;
    const stream = this.#stream;
    for (let sent = 0; sent < upload && !stream.destroyed;) {
      const to = Math.min(upload, sent + 1 + dice.roll(dice.pick(50, 4_000, 64_000)));
      const bytes = patternOf(seed, sent, to);
      sent = to;
      await new Promise<void>((resolve) => {
        stream.once('close', resolve);
        stream.write(bytes, () => {
          stream.off('close', resolve);
          resolve();
        });
      });
    }
    if (!stream.destroyed) stream.end();
  }

  #fault(text: string): void {
    this.#context.fault(`h2 ${this.#task.target}: ${text}`);
  }
}

function closed(stream: ClientHttp2Stream): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      stream.destroy();
      resolve(false);
    }, PATIENCE_MS);
    stream.once('close', () => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}
