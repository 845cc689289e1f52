import { apiDescription } from '../../../src/capabilities/api-description/api-description.ts';
import type { CapabilityContext } from '../../../src/capabilities/capability.ts';
import { landingPage } from '../../../src/capabilities/landing-page/landing-page.ts';
import {
  metadataOperations,
  type ProtectedResource,
} from '../../../src/capabilities/verification/protected-resource.ts';
import type { Config } from '../../../src/core/config/schema/settings.ts';
import { createAuthenticate } from '../../../src/core/credentials/authenticate.ts';
import {
  createPublicEdge,
  type PublicEdgeOptions,
  type PublicListenerSettings,
} from '../../../src/core/http/listeners.ts';
import type { HandleMessage } from '../../../src/core/http/operations/rpc.ts';
import { NO_REQUEST_HOOKS } from '../../../src/core/http/request-hooks.ts';
import type { RequestRecord } from '../../../src/core/kernel/caller.ts';
import { type Events, joinEvents } from '../../../src/core/kernel/events.ts';
import { createRepresentations } from '../../../src/core/reads/representations/representations.ts';
import { createSnapshotCache } from '../../../src/core/reads/snapshots/cache.ts';
import { type CatalogueRead, catalogueOf, type Reader } from '../../support/catalogue.ts';
import { onCleanup } from '../../support/cleanup.ts';
import { eventually } from '../../support/eventually.ts';
import { settingsFor } from '../../support/gateway.ts';
import { configOf } from '../../support/limits.ts';
import { loadOf } from '../../support/platform/loads.ts';
import { requestText } from '../../support/raw-http.ts';

export const LIST = '/mcp/v1/resources';
export const READS = '/mcp/v1/resources/read';
export const READ = `${READS}?uri=platform://tools`;
export const RPC = '/mcp';
export const RPC_MAX_BYTES = 1024;

/** Longer than a test may take: a test that waits for it to pass fails. */
export const LONG_MS = 60_000;

/** Default settings of the public listener. */
const SETTINGS: PublicListenerSettings = { ...configOf(settingsFor('http://127.0.0.1:9')).http, tls: undefined };

/** A record of a request without its empty fields. */
export type Ended = Record<string, unknown> &
  Pick<RequestRecord, 'requestId' | 'startedAt' | 'ms' | 'outcome' | 'bytes' | 'error'>;

export type Served = Awaited<ReturnType<typeof serve>>;

export interface ServeOptions
  extends Partial<PublicListenerSettings>,
    Partial<
      Pick<PublicEdgeOptions, 'readDeadlineMs' | 'now' | 'isDraining' | 'rpc' | 'authenticate' | 'representations'>
    > {
  /** The metadata that says where clients obtain tokens. */
  readonly tokenSource?: ProtectedResource;
  /** What a read of any resource gives. @default no items */
  readonly read?: Reader;
  /** Stands in for the recorder where it has a function. */
  readonly events?: Events;
}

/** The public listener over a catalogue whose reads are the test's, until the test ends. */
export async function serve({
  read = () => loadOf(),
  readDeadlineMs = 10_000,
  now = Date.now,
  isDraining = () => false,
  rpc,
  tokenSource,
  authenticate = createAuthenticate(),
  representations = createRepresentations(createSnapshotCache({ maxBytes: 65_536, maxEntries: 1 })),
  events = {},
  ...settings
}: ServeOptions = {}) {
  const reads: CatalogueRead[] = [];
  const recorder = createRecorder();
  const catalogue = catalogueOf((one) => {
    reads.push(one);
    return read(one);
  });
  const edge = createPublicEdge({
    settings: { ...SETTINGS, ...settings },
    hooks: NO_REQUEST_HOOKS,
    // The endpoints of capabilities that have no settings.
    get operations() {
      const config = { publicUrl: settings.publicUrl } as Config;
      const signsIn = tokenSource !== undefined;
      const about = {
        offered: catalogue.offered,
        credentialHeaders: [],
        forwardedHeaders: [],
        mcpPath: undefined,
        signsIn,
      };
      const pages = [apiDescription, landingPage].flatMap(
        (one) => one.open(undefined, {} as CapabilityContext)?.operations?.({ config, ...about }) ?? [],
      );
      return [...pages, ...(tokenSource === undefined ? [] : metadataOperations(tokenSource))];
    },
    catalogue,
    representations,
    authenticate,
    events: joinEvents([{ ...recorder.events, ...events }]),
    now,
    readDeadlineMs,
    isDraining,
    rpc,
    tokenSource,
  });
  onCleanup(() => edge.drain(0));
  return { url: await edge.listen(), edge, reads, ...recorder.recorded };
}

interface McpOptions {
  readonly maxBodyBytes?: number | undefined;
  readonly publicLists?: boolean;
}

/** Answers with the body of the request. */
export const echo: HandleMessage = (_request, _headers, body) => ({ status: 200, headers: {}, body });

/** The public listener with JSON-RPC that `handle` answers. */
export function serveRpc(
  handle: HandleMessage,
  options: ServeOptions = {},
  { maxBodyBytes = RPC_MAX_BYTES, publicLists = false }: McpOptions = {},
): Promise<Served> {
  return serve({ ...options, rpc: { path: RPC, maxBodyBytes, publicLists, handle } });
}

/** Keeps what is emitted. */
function createRecorder() {
  const ended: Ended[] = [];
  const bugs: { readonly requestId: string; readonly stack: string }[] = [];
  const refusals: { readonly maxConnections: number }[] = [];
  /** Bounds that were reached, by the keys of their settings. */
  const bounds: string[] = [];
  /** Connections that were open, each time that their number changed. */
  const open: number[] = [];
  const events: Events = {
    connectionsChanged: (changed) => open.push(changed.open),
    requestEnded: (record) => ended.push(copyOf(record)),
    internalError: (bug) => bugs.push(bug),
    connectionsRefused: (refused) => refusals.push(refused),
    limitReached: ({ bound }) => bounds.push(bound),
  };
  /** The requests that have ended, in that order, once there are `count` of them. */
  const requestsEnded = (count: number) => eventually(() => ended.length >= count && [...ended]);
  return { events, recorded: { ended: requestsEnded, bugs, refusals, bounds, open } };
}

const FIELDS = [
  ...([
    'edge',
    'requestId',
    'traceId',
    'startedAt',
    'ms',
    'method',
    'route',
    'rpc',
    'tool',
    'resource',
    'status',
  ] as const),
  ...(['outcome', 'bytes', 'upstreamMs', 'cache', 'callerKey', 'error'] as const),
];

/** A record is reused after its event. */
function copyOf(record: RequestRecord): Ended {
  const fields = FIELDS.filter((name) => record[name] !== undefined);
  return Object.fromEntries(fields.map((name) => [name, record[name]])) as Ended;
}

/** A `POST` of JSON as text. */
export function post(body: string, fields: Readonly<Record<string, string | undefined>> = {}, target = RPC): string {
  const length = fields['Transfer-Encoding'] === undefined ? { 'Content-Length': String(body.length) } : {};
  // The length of an empty body, too.
  return requestText('POST', target, { 'Content-Type': 'application/json', ...length, ...fields }) + body;
}

/** Has nothing of this test end the process: call it in a `describe`. */
export function expectNoUncaught(): void {
  const uncaught: unknown[] = [];
  const note = (error: unknown) => uncaught.push(error);
  beforeEach(() => {
    process.prependListener('unhandledRejection', note);
    process.prependListener('uncaughtExceptionMonitor', note);
  });
  afterEach(async () => {
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', note);
    process.off('uncaughtExceptionMonitor', note);
    const [first] = uncaught.splice(0);
    if (first !== undefined) throw new Error('an uncaught error', { cause: first });
  });
}
