import { Worker } from 'node:worker_threads';
import { withAbort } from '../../kernel/deadline.ts';
import { GatewayError } from '../../kernel/errors.ts';
import { createTurnBudget } from '../../kernel/turns.ts';
import { compileList, type ListSettings } from './compile.ts';
import { createPageReader, type MappedPage, type PageBody, SMALL_BYTES } from './page-reader.ts';
import type { ErrorData, PageOutcome, PageTask } from './page-thread.ts';

/** A page of a list, and whoever waits for it. */
export interface PageReading extends PageBody {
  readonly signal: AbortSignal;
  /** Told how long the page was worked on, in milliseconds. */
  readonly spend: (ms: number) => void;
}

/** As `PageReader`, in its time: rejects with the signal's reason where that aborts first. */
export type ReadPage = (reading: PageReading) => Promise<MappedPage | GatewayError>;

/** Reads the pages of all lists, so that none of them holds the event loop long. */
export interface PageDesk {
  /** Gives how the pages of a resource are read. Call it before the first page is. */
  open(resource: string, settings: ListSettings): ReadPage;
  /** Whoever still waits for a large page, or asks for one later, is told `draining`. */
  close(): Promise<void>;
}

/** How long small pages may take in one turn of the event loop, all together. The last of them may take longer. */
const TURN_MS = 5;

/**
 * Heap of the thread, and of it for each byte of the largest page: parsed, and parsed again for its numbers, a page takes up to
 * sixty. Far from what any takes, since V8 ends the whole process where it is met within one step of parsing.
 */
const HEAP_BYTES = 67_108_864;
const HEAP_PER_BYTE = 128;

interface Waiting {
  readonly task: Omit<PageTask, 'bytes'>;
  readonly body: Buffer;
  readonly settle: (outcome: PageOutcome) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Small pages are read at once, large ones by a thread: one after the other, with a heap of its own, so that no more than one is
 * parsed at a time. A mistake of ours there ends the thread, and the next page has a new one. The thread starts with the first large page. `maxPageBytes` is the size of the largest.
 */
export function createPageDesk(maxPageBytes: number): PageDesk {
  const settings = new Map<string, ListSettings>();
  const waiting = new Set<Waiting>();
  let running: Waiting | undefined;
  let thread: Worker | undefined;
  let isClosed = false;
  const inBudget = createTurnBudget(TURN_MS);

  function start(): Worker {
    const file = import.meta.url.endsWith('.ts') ? './page-thread.ts' : './page-thread.js';
    const maxOldGenerationSizeMb = Math.ceil((HEAP_BYTES + HEAP_PER_BYTE * maxPageBytes) / 1_048_576);
    const started = new Worker(new URL(file, import.meta.url), {
      workerData: settings,
      resourceLimits: { maxOldGenerationSizeMb },
    });
    started.on('message', (outcome: PageOutcome) => {
      const done = running;
      running = undefined;
      done?.settle(outcome);
      // Not at once: of messages that are there, Node has all read in one turn, while the thread makes more of them.
      setImmediate(goOn);
    });
    started.on('error', (error) => {
      const failed = running;
      running = undefined;
      thread = undefined;
      failed?.fail(error);
      goOn();
    });
    return started;
  }

  /** Has the thread read the page that has waited longest. The process does not end meanwhile. */
  function goOn(): void {
    if (running !== undefined) return;
    const [next] = waiting;
    if (next === undefined) {
      thread?.unref();
      return;
    }
    waiting.delete(next);
    running = next;
    thread ??= start();
    thread.ref();
    const bytes = new Uint8Array(next.body);
    thread.postMessage({ ...next.task, bytes } satisfies PageTask, [bytes.buffer]);
  }

  async function hand(resource: string, { body, headers, first, signal, spend }: PageReading) {
    let mine: Waiting | undefined;
    try {
      const outcome = await withAbort(
        signal,
        () =>
          new Promise<PageOutcome>((settle, fail) => {
            if (isClosed) throw closed();
            mine = { task: { resource, headers, first }, body, settle, fail };
            waiting.add(mine);
            goOn();
          }),
      );
      spend(outcome.tookMs);
      if ('thrown' in outcome) throw errorOf(outcome.thrown);
      if ('unusable' in outcome) return errorOf(outcome.unusable);
      return { ...outcome.page, items: { ...outcome.page.items, bytes: bufferOf(outcome.page.items.bytes) }, headers };
    } finally {
      if (mine !== undefined) waiting.delete(mine);
    }
  }

  return {
    open(resource, list) {
      settings.set(resource, list);
      const read = createPageReader(compileList(list));
      return (reading) => {
        if (reading.body.length > SMALL_BYTES) return hand(resource, reading);
        return inBudget(() => {
          reading.signal.throwIfAborted();
          return read(reading);
        }, reading.spend);
      };
    },
    async close() {
      isClosed = true;
      const ending = thread;
      thread = undefined;
      for (const { fail } of running === undefined ? waiting : [running, ...waiting]) fail(closed());
      running = undefined;
      waiting.clear();
      ending?.ref();
      await ending?.terminate();
    },
  };
}

function errorOf({ code, ...facts }: ErrorData): GatewayError {
  return new GatewayError(code, facts);
}

function closed(): GatewayError {
  return new GatewayError('draining', { reason: 'the page desk is closed' });
}

/** Bytes that came from another thread, which knows no buffers of Node. */
function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
