import { Server, type ServerContext, type StandardSchemaV1 } from '@modelcontextprotocol/server';
import { type Ask, failureOf } from './ask.ts';
import type { Era } from './era.ts';
import { createHandlers, type HandlersOptions, type Params } from './handlers.ts';
import { protocolErrorOf } from './rpc-error.ts';

export interface ServerOptions extends HandlersOptions {
  /** Of this package. */
  readonly version: string;
}

/** Builds the server of one request, or over stdio of one connection. `askOf` gives the request that a context is of. */
export type ServerFactory = (era: Era, askOf: (context: ServerContext) => Ask) => Server;

const RESOURCES_HINT =
  'Read-only lists of a security platform: projects that the caller may see, installed workflows, installed tools. ' +
  'Each is read whole as a resource.';
const TOOLS_HINT = 'The tools return the same lists page by page, narrowed by what is asked for.';

/** Handlers check their parameters themselves, so that what is wrong with them is told in words of the error table. */
const ANYTHING: StandardSchemaV1<unknown, Params> = {
  '~standard': { version: 1, vendor: 'portico', validate: (value) => ({ value: Object(value) }) },
};

/** The one definition of what is offered, for both eras and both transports. */
export function createServerFactory(options: ServerOptions): ServerFactory {
  const { tools, version } = options;
  const info = { name: 'portico', title: 'Portico', version };
  const offered = {
    capabilities: { resources: {}, ...(tools && { tools: {} }) },
    instructions: tools ? `${RESOURCES_HINT} ${TOOLS_HINT}` : RESOURCES_HINT,
  };
  const handlers = createHandlers(options);
  const byEra = { modern: Object.entries(handlers('modern')), legacy: Object.entries(handlers('legacy')) };

  return (era, askOf) => {
    const server = new Server(info, offered);
    for (const [method, handle] of byEra[era]) {
      server.setRequestHandler(method, { params: ANYTHING }, async (params, context) => {
        const ask = askOf(context);
        const { signal } = context.mcpReq;
        try {
          return { ...(await handle(params, ask, signal)) };
        } catch (error) {
          throw protocolErrorOf(failureOf(error, ask, signal), ask.caller.requestId, params);
        }
      });
    }
    return server;
  };
}
