import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { Dice } from '../seeded-random.js';
import { drained } from './drained.js';
import type { LaneContext } from './lane-context.js';
import { patternOf } from './pattern.js';
import { ResponseReader } from './response-reader.js';
import type { Task } from './task.js';

const PATIENCE_MS = 60_000;

/** Requests over HTTP/1.1 connections, one after the other, some pipelined, some abandoned. */
export async function http1Lane(context: LaneContext, secure: boolean): Promise<void> {
  let task = context.next();
  while (task) task = await useConnection(context, open(context, secure), task);
}

function open({ ports }: LaneContext, secure: boolean): Socket {
  const socket = secure
    ? connectTls({ port: ports.https, host: '127.0.0.1', rejectUnauthorized: false })
    : connect({ port: ports.http, host: '127.0.0.1', noDelay: true });
  return socket.on('error', () => undefined);
}

/** Answers the task for the next connection. */
async function useConnection(context: LaneContext, socket: Socket, first: Task): Promise<Task | undefined> {
  const { dice } = context;
  const reads = dice.chance(20) ? 'slowly' : 'at once';
  let kept: Buffer = Buffer.alloc(0);
  let task: Task | undefined = first;
  let isUsable = true;
  while (task && isUsable) {
    const ahead: Task | undefined = task.upload === 0 && dice.chance(15) ? context.next() : undefined;
    const pair: readonly Task[] = ahead?.upload === 0 ? [task, ahead] : [task];
    const outcome: Outcome = await exchange(socket, pair, { context, kept, reads });
    kept = outcome.kept;
    isUsable = outcome.usable;
    task = pair.length === 2 ? (outcome.unanswered ?? context.next()) : (ahead ?? context.next());
  }
  socket.destroy();
  return task;
}

interface Conversation {
  readonly context: LaneContext;
  readonly kept: Buffer;
  readonly reads: 'slowly' | 'at once';
}

interface Outcome {
  readonly usable: boolean;
  readonly kept: Buffer;
  readonly unanswered?: Task;
}

async function exchange(
  socket: Socket,
  tasks: readonly Task[],
  { context, kept, reads }: Conversation,
): Promise<Outcome> {
  const { dice } = context;
  const abandons = dice.chance(context.violence);
  const sending = send(socket, tasks, dice).catch(() => undefined);
  let rest = kept;
  for (const [index, task] of tasks.entries()) {
    const reader = new ResponseReader(task, (text) => {
      context.fault(text);
    });
    const result = await receive(socket, reader, { first: rest, reads, dice, abandons });
    if (result === 'late') context.fault(`${task.target}: no answer in time`);
    if (result === 'ended') reader.end();
    if (!reader.isOver) {
      socket.destroy();
      // What was asked behind it was not answered, and is no fault of the gateway's.
      const unanswered = tasks[index + 1];
      return { usable: false, kept: rest, ...(unanswered && { unanswered }) };
    }
    context.done(task);
    rest = typeof result === 'string' ? Buffer.alloc(0) : result;
    if (result === 'ended') {
      const unanswered = tasks[index + 1];
      return { usable: false, kept: rest, ...(unanswered && { unanswered }) };
    }
  }
  await sending;
  return { usable: !socket.destroyed && !socket.readableEnded, kept: rest };
}

async function send(socket: Socket, tasks: readonly Task[], dice: Dice): Promise<void> {
  let bytes = Buffer.alloc(0);
  for (const { target, seed, upload } of tasks) {
    const body = upload > 0 ? `Content-Length: ${upload}\r\n` : '';
    const head = `${upload > 0 ? 'POST' : 'GET'} ${target} HTTP/1.1\r\nHost: stress.test\r\n${body}\r\n`;
    bytes = Buffer.concat([bytes, Buffer.from(head), patternOf(seed, 0, upload)]);
  }
  for (let sent = 0; sent < bytes.length && !socket.destroyed;) {
    const to = sent + 1 + dice.roll(dice.pick(50, 4_000, 64_000, 500_000));
    const isTaken = socket.write(bytes.subarray(sent, to));
    sent = to;
    if (!isTaken) await drained(socket);
    else if (dice.chance(20)) await nextTurn();
  }
}

interface Reading {
  readonly first: Buffer;
  readonly reads: 'slowly' | 'at once';
  readonly dice: Dice;
  readonly abandons: boolean;
}

/** Answers what came behind the response, or how the connection ended. */
function receive(
  socket: Socket,
  reader: ResponseReader,
  { first, reads, dice, abandons }: Reading,
): Promise<Buffer | 'ended' | 'failed' | 'late'> {
  return new Promise((resolve) => {
    const finish = (result: Buffer | 'ended' | 'failed' | 'late'): void => {
      clearTimeout(timer);
      socket.off('data', take).off('end', ended).off('close', closed);
      socket.pause();
      resolve(result);
    };
    const timer = setTimeout(() => {
      finish('late');
    }, PATIENCE_MS);
    const ended = (): void => {
      finish('ended');
    };
    const closed = (): void => {
      finish('failed');
    };
    const take = (bytes: Buffer): void => {
      const rest = reader.push(bytes);
      if (reader.isOver) finish(rest);
      else if (abandons && dice.chance(20)) socket.destroy();
      else if (reads === 'slowly' && dice.chance(30)) {
        socket.pause();
        void wait(dice.roll(4)).then(() => socket.resume());
      }
    };
    if (socket.destroyed) {
      finish('failed');
      return;
    }
    socket.on('data', take).on('end', ended).on('close', closed);
    if (first.length > 0) take(first);
    if (!reader.isOver) socket.resume();
  });
}
