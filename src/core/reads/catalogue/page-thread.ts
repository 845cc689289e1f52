import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { GatewayError } from '../../kernel/errors.ts';
import type { ReplyHeaders } from '../../upstream/upstream.ts';
import { compileList, createPageReader, type ListSettings, type MappedPage, type PageReader } from './page-reader.ts';

export interface PageTask {
  readonly resource: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly headers: ReplyHeaders;
  readonly first: boolean;
}

/** Serialized between threads. */
export type ErrorData = Pick<GatewayError, 'code' | 'detail' | 'reason' | 'bound'>;

export type PageOutcome = { readonly tookMs: number } & (
  | { readonly page: Omit<MappedPage, 'headers'> }
  | { readonly unusable: ErrorData }
  | { readonly thrown: ErrorData }
);

/** A third of the event loop's CPU, when both compete for one core. */
const NICE = 5;

// When both share a core, the event loop goes first. Only on Linux is this the thread's own priority.
if (process.platform === 'linux') setPriority(NICE);

const settings: ReadonlyMap<string, ListSettings> = workerData;
const readers = new Map<string, PageReader>();

function readerOf(resource: string): PageReader {
  const made = readers.get(resource) ?? createPageReader(compileList(settings.get(resource) as ListSettings));
  readers.set(resource, made);
  return made;
}

function outcomeOf({ resource, bytes, headers, first }: PageTask) {
  try {
    const read = readerOf(resource)({ body: Buffer.from(bytes.buffer), headers, first });
    if (read instanceof GatewayError) return { unusable: dataOf(read) };
    const { headers: _, ...page } = read;
    return { page };
  } catch (error) {
    if (error instanceof GatewayError) return { thrown: dataOf(error) };
    throw error;
  }
}

function dataOf({ code, detail, reason, bound }: GatewayError): ErrorData {
  return { code, detail, reason, bound };
}

parentPort?.on('message', (task: PageTask) => {
  const begun = performance.now();
  const outcome = outcomeOf(task);
  parentPort?.postMessage({ ...outcome, tookMs: performance.now() - begun } satisfies PageOutcome);
});
