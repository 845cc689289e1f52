import type { Catalogue } from '../catalogue/catalogue.ts';
import { GatewayError } from '../kernel/errors.ts';
import type { Resource } from '../resources/resource.ts';
import { type Ask, failureOf } from './ask.ts';
import { isDenial } from './denial.ts';
import type { Era } from './era.ts';
import { readTimed } from './read-timed.ts';
import { listResources } from './resources/list.ts';
import { remainingTtlMs, resourceContents } from './resources/read.ts';
import { failedResult } from './tools/failed-result.ts';
import { createTools } from './tools/tools.ts';

export interface HandlersOptions {
  readonly catalogue: Catalogue;
  readonly resources: readonly Resource[];
  /** Whether the resources are offered as tools, too. */
  readonly tools: boolean;
  /** Largest result of a tool as text. */
  readonly maxResultBytes: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Parameters that nobody has checked yet, or a result. */
export type Params = Readonly<Record<string, unknown>>;

/** Answers one method. Throws `GatewayError` for what is wrong. */
export type Handler = (params: Params, ask: Ask, signal: AbortSignal) => Promise<Params> | Params;

/** Lists are part of a release and of its settings: nobody needs to ask again soon. */
const LIST_TTL_MS = 3_600_000;

/** What is answered, by method, beside what the SDK answers by itself. */
export function createHandlers(options: HandlersOptions): (era: Era) => Readonly<Record<string, Handler>> {
  const { catalogue, now } = options;
  const resources = listResources(catalogue);
  const tools = options.tools ? createTools(options) : undefined;

  return (era) => {
    /** How long clients may keep a result; only the newer era says so. */
    const cacheable = (result: Params, ttlMs: number): Params =>
      era === 'modern' ? { ...result, ttlMs, cacheScope: 'private' } : result;

    const always: Record<string, Handler> = {
      ping: () => ({}),
      'resources/list': (params) => cacheable({ resources: onePage(resources, params) }, LIST_TTL_MS),
      'resources/templates/list': (params) => cacheable({ resourceTemplates: onePage([], params) }, LIST_TTL_MS),
      async 'resources/read'({ uri }, ask, signal) {
        if (typeof uri !== 'string' || uri === '') {
          throw new GatewayError('uri_missing', { detail: 'Name the resource to read in params.uri.' });
        }
        const load = await readTimed(catalogue, catalogue.find(uri), ask, signal);
        return cacheable({ contents: resourceContents(uri, load) }, remainingTtlMs(load, now()));
      },
    };
    if (tools === undefined) return always;
    return {
      ...always,
      'tools/list': (params) => cacheable({ tools: onePage(tools.list, params) }, LIST_TTL_MS),
      async 'tools/call'({ name, arguments: given }, ask, signal) {
        const call = tools.find(name);
        try {
          return await call(given, ask, signal);
        } catch (error) {
          const failure = failureOf(error, ask, signal);
          if (isDenial(failure)) throw failure;
          return failedResult(failure, ask.caller.requestId);
        }
      },
    };
  };
}

/** Everything fits one page, so that no cursor was ever given out. */
function onePage<T>(items: readonly T[], { cursor }: Params): readonly T[] {
  if (cursor === undefined) return items;
  throw new GatewayError('invalid_params', { detail: 'There is no such cursor: this list has one page.' });
}
