import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { GatewayError } from '../../kernel/errors.ts';
import type { ReplyHeaders } from '../../upstream/upstream.ts';
import { compileList, type ListSettings } from './compile.ts';
import { createPageReader, type MappedPage, type PageReader } from './page-reader.ts';

/** A page that the thread is to read. */
export interface PageTask {
  readonly resource: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly headers: ReplyHeaders;
  readonly first: boolean;
}

/** What is left of an error on its way between threads. */
export type ErrorData = Pick<GatewayError, 'code' | 'detail' | 'reason' | 'bound'>;

/** What became of a page; its headers stayed where they were. */
export type PageOutcome = { readonly tookMs: number } & (
  | { readonly page: Omit<MappedPage, 'headers'> }
  | { readonly unusable: ErrorData }
  | { readonly thrown: ErrorData }
);

/** A third of the processor time of the event loop, where both want all of one core. */
const NICE = 5;

// Where both share a core, the event loop goes first. Elsewhere than on Linux this would be the priority of the process.
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
