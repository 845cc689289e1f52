import cluster from 'node:cluster';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { createSizedLru } from '../../core/kernel/tables.ts';
import type { LogDestination } from '../../core/log/destination.ts';
import type { CountsAdded, CountsToAdd, ToPrimary, ToWorker } from './worker.ts';

const LINE_FEED = 10;

export type WorkerProcess = ReturnType<typeof startWorker>;

/** Prepares workers: the same command as this process, and what they share. */
export function workerSetup(destination: LogDestination) {
  const [, exec = '', ...args] = process.argv;
  // Their lines are written here: those of several processes would mix.
  cluster.setupPrimary({ exec, args, silent: true });
  const folder = mkdtempSync(join(tmpdir(), 'portico-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return { destination, folder, secret: randomBytes(32).toString('base64url'), count: createCounts() };
}

export function startWorker({ destination, folder, secret, count }: ReturnType<typeof workerSetup>) {
  const worker = cluster.fork();
  const { id, process: child } = worker;
  const adminSocketPath = join(folder, `${id}.sock`);
  const { promise: ready, resolve } = Promise.withResolvers<string>();
  let isReady = false;
  const send = (message: ToWorker) => {
    if (worker.isConnected()) worker.send(message);
  };

  worker.on('error', () => {}); // A message to a worker that is about to end; `ended` follows.
  worker.on('message', (message: ToPrimary) => {
    if (message === 'join') {
      return send({ begin: { adminSocketPath, secret, isTerminal: destination.terminal !== undefined } });
    }
    if ('add' in message) return send({ counted: count(message.add) });
    isReady = true;
    return resolve(message.ready);
  });
  if (child.stdout !== null) passLines(child.stdout, destination);
  child.stderr?.pipe(process.stderr, { end: false });
  return {
    id,
    pid: child.pid,
    startedAt: performance.now(),
    adminSocketPath,
    ready,
    ended: new Promise<{ readonly code: number | null; readonly signal: string | null }>((end) =>
      worker.once('exit', (code, signal) => end({ code, signal })),
    ),
    isReady: () => isReady && worker.isConnected(),
    kill: () => child.kill('SIGKILL'),
    send,
  };
}

function passLines(stdout: Readable, destination: LogDestination): void {
  let rest = Buffer.alloc(0);
  stdout.on('data', (chunk: Buffer) => {
    const end = chunk.lastIndexOf(LINE_FEED) + 1;
    if (end > 0) destination.write(Buffer.concat([rest, chunk.subarray(0, end)]).toString('utf8'));
    rest = end > 0 ? Buffer.from(chunk.subarray(end)) : Buffer.concat([rest, chunk]);
  });
}

const MAX_COUNTERS = 100_000;

function createCounts(): (added: CountsToAdd) => CountsAdded['counted'] {
  const now = () => performance.now();
  const counters = createSizedLru<string, { total: number; readonly endsAt: number }>({ maxSize: MAX_COUNTERS, now });
  return ({ units, windowMs }) =>
    units.map(([name, more]) => {
      const counter = counters.get(name) ?? { total: 0, endsAt: now() + windowMs };
      counter.total += more;
      const restMs = counter.endsAt - now();
      counters.set(name, counter, restMs);
      return { total: counter.total, restMs };
    });
}
