import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { Partitioner } from '../../credentials/partition.ts';
import type { Caller } from '../../kernel/caller.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Encode } from '../../snapshots/forms.ts';
import type { Load } from '../../snapshots/load.ts';
import { hasBody } from '../body.ts';
import { cacheHeaders, cacheWord } from '../cache-headers.ts';
import type { Context } from '../context.ts';
import type { Exchange } from '../exchange.ts';
import { forbidsCache } from '../forbids-cache.ts';
import { identify } from '../identify.ts';
import { negotiate } from '../negotiate.ts';
import { sendSnapshot } from '../send-snapshot.ts';
import { queryOf } from '../target.ts';
import type { Routes } from './router.ts';

export interface ReadRoutesOptions {
  readonly catalogue: Catalogue;
  readonly partition: Partitioner;
  /** Answers smaller than this are sent uncompressed. */
  readonly compressMinBytes: number;
  readonly encode: Encode;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const LIST_HEADERS = { 'Cache-Control': 'private, no-cache' };

/** The two reads. What is wrong with a request is reported in the order in which their steps stand. */
export function readRoutes({ catalogue, partition, compressMinBytes, encode, now }: ReadRoutesOptions): Routes {
  async function readTimed(exchange: Exchange, name: string, caller: Caller): Promise<Load> {
    const controller = new AbortController();
    const begun = performance.now();
    exchange.onGone = () => {
      exchange.upstreamMs = performance.now() - begun;
      controller.abort();
    };
    try {
      const noCache = forbidsCache(exchange.req.headers['cache-control']);
      const load = await catalogue.read(name, caller, controller.signal, { noCache });
      exchange.upstreamMs = load.upstreamMs;
      exchange.cache = cacheWord(load, now());
      return load;
    } catch (error) {
      exchange.upstreamMs = performance.now() - begun;
      throw error;
    } finally {
      exchange.onGone = undefined;
    }
  }

  return {
    async '/mcp/v1/resources'(ctx) {
      const { exchange } = ctx.state;
      refuseBody(ctx);
      identify(exchange, partition);
      const codings = negotiate(ctx.req.headers);
      await sendSnapshot(ctx, catalogue.list, {
        codings,
        compressMinBytes,
        encode: (coding) => encode({ snapshot: catalogue.list }, coding),
        headers: () => LIST_HEADERS,
      });
    },

    async '/mcp/v1/resources/read'(ctx) {
      const { exchange } = ctx.state;
      refuseBody(ctx);
      const caller = identify(exchange, partition);
      const name = catalogue.find(oneUri(ctx.url));
      exchange.resource = name;
      const codings = negotiate(ctx.req.headers);
      const load = await readTimed(exchange, name, caller);
      await sendSnapshot(ctx, load.snapshot, {
        codings,
        compressMinBytes,
        encode: (coding) => encode(load, coding),
        headers: () => ({ ...cacheHeaders(load, now()), ...droppedItems(load) }),
      });
    },
  };
}

/** How many items the read left out, where it did. */
function droppedItems({ dropped }: Load): Record<string, string> {
  return dropped > 0 ? { 'Portico-Dropped-Items': String(dropped) } : {};
}

/** A body on a `GET` means nothing, and is a way to smuggle a request past a proxy (RFC 9110, section 9.3.1). */
function refuseBody({ req }: Context): void {
  if (hasBody(req)) throw new GatewayError('invalid_request', { detail: 'This request must not have a body.' });
}

function oneUri(url: string): string {
  const [uri, ...others] = new URLSearchParams(queryOf(url)).getAll('uri');
  if (others.length > 0) throw new GatewayError('uri_repeated');
  if (uri === undefined || uri === '') throw new GatewayError('uri_missing');
  return uri;
}
