import type { RequestRecord } from '../../../src/core/kernel/caller.ts';
import type { Events } from '../../../src/core/kernel/events.ts';
import type { RequestContext } from '../../../src/core/mcp/request-context.ts';
import { createRpcHandler, type RpcHandlerOptions, type RpcResponse } from '../../../src/core/mcp/rpc-handler.ts';
import { createRepresentations } from '../../../src/core/reads/representations/representations.ts';
import { createSnapshotCache } from '../../../src/core/reads/snapshots/cache.ts';
import type { Load } from '../../../src/core/reads/snapshots/load.ts';
import { callerWith } from '../../support/authorization/caller.ts';
import { catalogueOf, type Reader } from '../../support/catalogue.ts';
import { heldUntil, loadOf as loadOfItems } from '../../support/platform/loads.ts';

export const NOW = 1_700_000_000_000;

/** `_meta` of every request from 2026-07-28 on. */
export const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** What `initialize` takes beside a revision. */
export const CLIENT = { capabilities: {}, clientInfo: { name: 'test', version: '1' } };

/** Headers of the protocol, and `User-Agent`. */
export interface RpcHeaders {
  readonly protocolVersion: string | undefined;
  readonly method: string | undefined;
  readonly name: string | undefined;
  readonly userAgent?: string | undefined;
}

export const NO_HEADERS: RpcHeaders = { protocolVersion: undefined, method: undefined, name: undefined };

/** As Node has them. */
const headersOf = ({ protocolVersion, method, name, userAgent }: RpcHeaders) => ({
  ...{ 'mcp-protocol-version': protocolVersion, 'mcp-method': method, 'mcp-name': name, 'user-agent': userAgent },
});

/** A load at {@link NOW}. */
export function loadOf(items: readonly object[], rest: Partial<Load> = {}): Load {
  return loadOfItems(items, { loadedAt: NOW, upstreamMs: 12, ...rest });
}

/** What is held in the cache, and is fresh for so long yet. */
export function cachedFor(ms: number): Pick<Load, 'cached'> {
  return heldUntil(NOW + ms);
}

/** `_meta` of a load that is fresh and whole. */
export function provenanceOf({ snapshot: { etag, loadStartedAt: loadedAt } }: Load) {
  const leftOut = { bySettings: 0, invalid: 0 };
  const loaded = { loadedAt: new Date(loadedAt).toISOString(), etag, leftOut };
  return { 'portico/list': { upstream: 'platform', ...loaded, stale: false } };
}

export interface AskedOptions extends Partial<RpcHandlerOptions> {
  readonly read?: Reader;
}

/** What it takes to answer requests, with the reads of a test. */
export function optionsOf({ read = () => loadOf([]), ...rest }: AskedOptions = {}): RpcHandlerOptions {
  return {
    catalogue: catalogueOf(read),
    representations: createRepresentations(createSnapshotCache({ maxBytes: 1_000_000, maxEntries: 10 })),
    tools: true,
    hiddenText: 'escape',
    maxResultBytes: 40_000,
    maxMessageValues: 1_000_000,
    keepAliveMs: 15_000,
    maxSearches: 4,
    maxWaitingSearches: 1024,
    maxWaitingSearchesPerCaller: 128,
    version: '1.2.3',
    now: () => NOW,
    events: {},
    ...rest,
  };
}

export type Bug = Parameters<NonNullable<Events['internalError']>>[0];

// biome-ignore lint/suspicious/noExplicitAny: the shape depends on the test.
type Json = any;

async function piecesOf(body: RpcResponse['body']): Promise<readonly Buffer[]> {
  if (typeof body !== 'function')
    return [body].flat().map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece));
  const pieces: Buffer[] = [];
  await body(async (piece) => void pieces.push(piece));
  return pieces;
}

/** What a test changes of a request. */
type Rest = Partial<RequestContext> & { readonly headers?: RpcHeaders };

/** A handler over such a catalogue, and ways to ask it. */
export function asked(options: AskedOptions = {}) {
  const all: Bug[] = [];
  const handle = createRpcHandler(optionsOf({ events: { internalError: (bug) => all.push(bug) }, ...options }));

  /** Sends bytes as they are. Gives the response, and what was recorded of the request. */
  async function raw(body: string | Buffer, { headers = NO_HEADERS, ...rest }: Rest = {}) {
    const bugs = all.length;
    const requestId = 'request-of-the-test';
    const record: RequestRecord = { edge: 'http', requestId, startedAt: 0, ms: 0, outcome: '', bytes: 0 };
    const context = {
      caller: callerWith(),
      get signal(): AbortSignal {
        return new AbortController().signal;
      },
      ending: new AbortController().signal,
      noCache: false,
      noStore: false,
      record,
      ...rest,
    };
    const response = await handle(context, headersOf(headers), Buffer.from(body));
    const pieces = await piecesOf(response.body);
    return {
      status: response.status,
      headers: response.headers,
      pieces,
      get text(): string {
        return Buffer.concat(pieces).toString();
      },
      get json(): Json {
        return JSON.parse(this.text);
      },
      record,
      bugs: all.slice(bugs),
    };
  }

  return {
    raw,
    /** One request of a revision before 2026-07-28. */
    earlier: (method: string, params?: object, rest?: Rest) =>
      raw(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), rest),
    /** One request of 2026-07-28, with the headers that it has to have. */
    current: (method: string, params: Record<string, unknown> = {}, headers: Partial<RpcHeaders> = {}, rest = {}) => {
      const named = params['uri'] ?? params['name'];
      const name = typeof named === 'string' ? named : undefined;
      return raw(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: ENVELOPE } }), {
        headers: { protocolVersion: '2026-07-28', method, name, ...headers },
        ...rest,
      });
    },
  };
}
