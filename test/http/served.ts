import { createCatalogue } from '../../src/catalogue/catalogue.ts';
import { createPartitioner } from '../../src/credentials/partition.ts';
import type { HttpServer } from '../../src/http/edge.ts';
import type { Endpoint } from '../../src/http/endpoint.ts';
import { createHttpServer, type HttpSettings } from '../../src/http/server.ts';
import type { Caller } from '../../src/kernel/caller.ts';
import { createSnapshotCache } from '../../src/snapshots/cache.ts';
import { createForms } from '../../src/snapshots/forms.ts';
import type { Load } from '../../src/snapshots/load.ts';
import { createSnapshotWriter } from '../../src/snapshots/snapshot-writer.ts';
import { type CapturedLog, captureLog } from '../observability/captured-log.ts';
import { ANSWER_AHEAD } from '../support/answer-ahead.ts';

export const LIST = '/mcp/v1/resources';
export const READ = '/mcp/v1/resources/read?uri=platform://tools';

const SETTINGS: HttpSettings = {
  host: '127.0.0.1',
  port: 0,
  allowedOrigins: [],
  maxUrlBytes: 8192,
  maxHeaderBytes: 16_384,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  keepAliveTimeoutMs: 65_000,
  sendTimeoutMs: 30_000,
  maxConnections: 10_000,
  compressMinBytes: 1024,
  answerAhead: ANSWER_AHEAD,
};

/** One read that the catalogue was asked for. */
export interface Read {
  readonly name: string;
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

export interface Served extends CapturedLog {
  readonly url: string;
  readonly server: HttpServer;
  readonly reads: readonly Read[];
}

type Reader = (read: Read) => Promise<Load> | Load;

export interface ServeOptions extends Partial<HttpSettings> {
  /** What a read of any of the three resources gives. @default no items */
  readonly read?: Reader;
  /** What is held, and fresh, of any of the three. @default nothing */
  readonly fresh?: () => Load | undefined;
  readonly readDeadlineMs?: number;
  readonly now?: () => number;
  readonly endpoints?: readonly Endpoint[];
}

const running = new Set<HttpServer>();

/** Serves the three resources until `closeAll`. */
export async function serve({
  read = () => loadOf([]),
  fresh = () => undefined,
  readDeadlineMs = 10_000,
  now = Date.now,
  endpoints = [],
  ...settings
}: ServeOptions = {}): Promise<Served> {
  const reads: Read[] = [];
  const log = captureLog();
  const server = createHttpServer({
    settings: { ...SETTINGS, ...settings },
    catalogue: createCatalogue(
      ['projects', 'workflows', 'tools'].map((name) => ({
        name,
        definition: { uri: `platform://${name}`, name, description: name, mimeType: 'application/json' },
        source: {
          load: async (caller, signal) => {
            const one = { name, caller, signal };
            reads.push(one);
            return read(one);
          },
          fresh,
        },
      })),
    ),
    partition: createPartitioner(),
    encode: createForms(createSnapshotCache({ maxBytes: 65_536, maxEntries: 1 })),
    now,
    logger: log.logger,
    readDeadlineMs,
    endpoints,
  });
  running.add(server);
  return { url: await server.listen(), server, reads, ...log };
}

/** Ends every server of a test, with whatever is still open. */
export async function closeAll(): Promise<void> {
  const servers = [...running];
  running.clear();
  await Promise.all(servers.map((server) => server.drain(0)));
}

export function loadOf(items: readonly object[], rest: Partial<Load> = {}): Load {
  const writer = createSnapshotWriter(Date.now());
  writer.add(items);
  return { snapshot: writer.finish(), upstreamMs: 12.34, pages: 1, dropped: 0, ...rest };
}

/** Items whose JSON is a good deal larger than any limit below which nothing is compressed. */
export function manyItems(count = 200): object[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `tool-${index}`,
    name: `Tool ${index}`,
    version: '1.0.0',
  }));
}

/** A read that ends when it is told to, or when it is aborted. */
export function createPatience() {
  const waiting: ((load: Load) => void)[] = [];
  const read: Reader = ({ signal }) =>
    new Promise((resolve, reject) => {
      waiting.push(resolve);
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  return { read, release: (load = loadOf([])) => waiting.shift()?.(load) };
}
