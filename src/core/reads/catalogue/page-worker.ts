import { once } from 'node:events';
import { setImmediate as laterTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { withAbort } from '../../kernel/deadline.ts';
import { GatewayError } from '../../kernel/errors.ts';
import { createTurnBudget } from '../../kernel/turns.ts';
import {
  compileList,
  createPageReader,
  type ListSettings,
  type MappedPage,
  type PageBody,
  SMALL_BYTES,
} from './page-reader.ts';
import type { ErrorData, PageOutcome, PageTask } from './page-thread.ts';

export interface PageReading extends PageBody {
  readonly signal: AbortSignal;
  /** Called with the processing time in milliseconds. */
  readonly spend: (ms: number) => void;
}

/** Rejects with the signal's reason when it aborts first. */
export type ReadPage = (reading: PageReading) => Promise<MappedPage | GatewayError>;

/** Parses and maps the pages of all lists without blocking the event loop for long. */
export type PageWorker = ReturnType<typeof createPageWorker>;

/** Time for small pages in one turn; the last one may exceed it. */
const TURN_MS = 5;

/** A page takes up to sixty times its bytes. Far above, because V8 ends the process at the limit. */
const HEAP_BYTES = 67_108_864;
const HEAP_PER_BYTE = 128;

type WaitingPage = Omit<PageTask, 'bytes'> & Pick<PageReading, 'body'>;

/** Parses small pages in place, and large ones in a thread, one at a time. After a bug there, the next page starts a new one. */
export function createPageWorker(maxPageBytes: number) {
  const settings = new Map<string, ListSettings>();
  const closing = new AbortController();
  const inBudget = createTurnBudget(TURN_MS);
  let thread: Worker | undefined;
  /** Resolves when the thread may receive another page. */
  let free: Promise<unknown> = Promise.resolve();

  function start(): Worker {
    const file = import.meta.url.endsWith('.ts') ? './page-thread.ts' : './page-thread.js';
    const maxOldGenerationSizeMb = Math.ceil((HEAP_BYTES + HEAP_PER_BYTE * maxPageBytes) / 1_048_576);
    const started = new Worker(new URL(file, import.meta.url), {
      workerData: settings,
      resourceLimits: { maxOldGenerationSizeMb },
    });
    return started.on('error', () => {
      thread = undefined;
    });
  }

  /** Keeps the process alive meanwhile. */
  async function run({ body, ...task }: WaitingPage): Promise<PageOutcome> {
    const { signal } = closing;
    signal.throwIfAborted();
    thread ??= start();
    const running = thread;
    running.ref();
    const bytes = new Uint8Array(body);
    running.postMessage({ ...task, bytes } satisfies PageTask, [bytes.buffer]);
    try {
      const [outcome] = await once(running, 'message', { signal });
      return outcome;
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      running.unref();
    }
  }

  async function parseInWorker(resource: string, { body, headers, first, signal, spend }: PageReading) {
    let waiting: WaitingPage | undefined = { resource, headers, first, body };
    function runInTurn(): Promise<PageOutcome | undefined> {
      const ended = free.then(() => waiting && run(waiting));
      // Node delivers all available messages in one turn: the next page starts in a later one.
      free = ended.then(laterTurn, laterTurn);
      return ended;
    }
    try {
      const outcome = (await withAbort(signal, runInTurn)) as PageOutcome;
      spend(outcome.tookMs);
      if ('thrown' in outcome) throw errorOf(outcome.thrown);
      if ('unusable' in outcome) return errorOf(outcome.unusable);
      return { ...outcome.page, items: { ...outcome.page.items, bytes: bufferOf(outcome.page.items.bytes) }, headers };
    } finally {
      // A page whose reader has left is released, and not run.
      waiting = undefined;
    }
  }

  return {
    /** Call it before the first page. */
    open(resource: string, list: ListSettings): ReadPage {
      settings.set(resource, list);
      const read = createPageReader(compileList(list));
      return (reading) => {
        if (reading.body.length > SMALL_BYTES) return parseInWorker(resource, reading);
        return inBudget(() => {
          reading.signal.throwIfAborted();
          return read(reading);
        }, reading.spend);
      };
    },
    /** Pending and later large pages reject with `draining`. */
    async close(): Promise<void> {
      closing.abort(new GatewayError('draining', { reason: 'the gateway is closing' }));
      // A page that ends leaves the thread unreferenced: the process could end before the thread has.
      await free;
      await thread?.terminate();
    },
  };
}

function errorOf({ code, ...facts }: ErrorData): GatewayError {
  return new GatewayError(code, facts);
}

/** Bytes from another thread are not Buffers. */
function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
