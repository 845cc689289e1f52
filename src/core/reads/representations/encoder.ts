import { promisify } from 'node:util';
import { gzip, zstdCompress } from 'node:zlib';
import { withAbort } from '../../kernel/deadline.ts';
import { unpooled } from '../snapshots/snapshot.ts';

/** A content coding of snapshots (RFC 9110, section 8.4.1; zstd is RFC 8878). */
export type Coding = 'zstd' | 'gzip';

/** Bytes that are being compressed, or wait for it. */
interface Job {
  readonly run: () => Promise<Buffer>;
  readonly done: PromiseWithResolvers<Buffer>;
  waiters: number;
}

/**
 * Compresses bytes on the thread pool; concurrent requests for the same bytes share the result. Rejects with the
 * signal's reason when it aborts: a running compression then finishes and calls `made`, a waiting one without readers
 * is dropped.
 */
export type Encode = (
  bytes: Buffer,
  coding: Coding,
  made: (coded: Buffer) => void,
  signal: AbortSignal,
) => Promise<Buffer>;

const coders = { zstd: promisify(zstdCompress), gzip: promisify(gzip) } as const;

/**
 * At most `maxAtOnce` run: each occupies a thread of the pool, which also resolves host names. Others wait in order.
 */
export function createEncoder(maxAtOnce: number): Encode {
  const jobs: Record<Coding, Map<Buffer, Job>> = { zstd: new Map(), gzip: new Map() };
  const line = new Set<Job>();
  let running = 0;

  function open(bytes: Buffer, coding: Coding, made: (coded: Buffer) => void): Job {
    const run = async () => {
      try {
        const coded = unpooled([await coders[coding](bytes)]);
        made(coded);
        return coded;
      } finally {
        jobs[coding].delete(bytes);
      }
    };
    const job: Job = { run, done: Promise.withResolvers(), waiters: 0 };
    // All waiters may have left.
    job.done.promise.catch(() => {});
    jobs[coding].set(bytes, job);
    line.add(job);
    startNext();
    return job;
  }

  function startNext(): void {
    for (const job of line) {
      if (running >= maxAtOnce) return;
      line.delete(job);
      running += 1;
      job
        .run()
        .then(job.done.resolve, job.done.reject)
        .finally(() => {
          running -= 1;
          startNext();
        });
    }
  }

  return async (bytes, coding, made, signal) => {
    signal.throwIfAborted();
    const job = jobs[coding].get(bytes) ?? open(bytes, coding, made);
    job.waiters += 1;
    try {
      return await withAbort(signal, () => job.done.promise);
    } finally {
      job.waiters -= 1;
      if (job.waiters === 0 && line.delete(job)) jobs[coding].delete(bytes);
    }
  };
}
