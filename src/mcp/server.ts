import { Server, type ServerContext, type StandardSchemaV1 } from '@modelcontextprotocol/server';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { GatewayError } from '../kernel/errors.ts';
import { type Ask, failureOf } from './ask.ts';
import type { Era } from './era.ts';
import { readTimed } from './read-timed.ts';
import { listResources } from './resources/list.ts';
import { remainingTtlMs, resourceContents } from './resources/read.ts';
import { protocolErrorOf } from './rpc-error.ts';

export interface ServerOptions {
  readonly catalogue: Catalogue;
  /** Of this package. */
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Builds the server of one request, or over stdio of one connection. `asks` gives the request that a context is of. */
export type ServerFactory = (era: Era, asks: (context: ServerContext) => Ask) => Server;

type Params = Readonly<Record<string, unknown>>;
type Handler = (params: Params, ask: Ask, signal: AbortSignal) => Promise<Params> | Params;

/** Lists are part of a release and of its settings: nobody needs to ask again soon. */
const LIST_TTL_MS = 3_600_000;

const INSTRUCTIONS =
  'Read-only lists of a security platform: projects that the caller may see, installed workflows, installed tools. ' +
  'Each is read whole as a resource; the tools list the same page by page, with filters.';

/** Handlers check their parameters themselves, so that what is wrong with them is told in words of the error table. */
const ANYTHING: StandardSchemaV1<unknown, Params> = {
  '~standard': { version: 1, vendor: 'portico', validate: (value) => ({ value: Object(value) }) },
};

/** The one definition of what is offered, for both eras and both transports. */
export function createServerFactory({ catalogue, version, now }: ServerOptions): ServerFactory {
  const resources = listResources(catalogue);
  const info = { name: 'portico', title: 'Portico', version };
  const options = { capabilities: { resources: {} }, instructions: INSTRUCTIONS };

  const handlers = (era: Era): Record<string, Handler> => {
    /** How long clients may keep a result; only the newer era says so. */
    const cacheable = (result: Params, ttlMs: number): Params =>
      era === 'modern' ? { ...result, ttlMs, cacheScope: 'private' } : result;
    return {
      ping: () => ({}),
      'resources/list': (params) => cacheable({ resources: firstPage(params, resources) }, LIST_TTL_MS),
      'resources/templates/list': (params) => cacheable({ resourceTemplates: firstPage(params, []) }, LIST_TTL_MS),
      async 'resources/read'({ uri }, ask, signal) {
        if (typeof uri !== 'string')
          throw new GatewayError('uri_missing', { detail: 'Name the resource in params.uri.' });
        const load = await readTimed(catalogue, catalogue.find(uri), ask, signal);
        return cacheable({ contents: resourceContents(uri, load) }, remainingTtlMs(load, now()));
      },
    };
  };

  return (era, asks) => {
    const server = new Server(info, options);
    for (const [method, handle] of Object.entries(handlers(era))) {
      server.setRequestHandler(method, { params: ANYTHING }, async (params, context) => {
        const ask = asks(context);
        const { signal } = context.mcpReq;
        try {
          return { ...(await handle(params, ask, signal)) };
        } catch (error) {
          throw protocolErrorOf(failureOf(error, ask, signal), ask.caller.requestId);
        }
      });
    }
    return server;
  };
}

/** Everything fits one page, so that no cursor was ever given out. */
function firstPage<T>({ cursor }: Params, items: readonly T[]): readonly T[] {
  if (cursor === undefined) return items;
  throw new GatewayError('invalid_params', { detail: 'There is no such cursor: this list has one page.' });
}
