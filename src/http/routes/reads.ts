import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { Partitioner } from '../../credentials/partition.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Encode } from '../../snapshots/forms.ts';
import { hasBody } from '../body.ts';
import type { Context } from '../context.ts';
import { forbidsCache } from '../forbids-cache.ts';
import { credentialOf, identify } from '../identify.ts';
import { negotiate } from '../negotiate.ts';
import { createReadTimed } from '../read-timed.ts';
import { sendSnapshot } from '../send-snapshot.ts';
import { loadHeaders, snapshotHeaders } from '../snapshot-headers.ts';
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

/** Where a resource is read. */
export const READ_PATH = '/mcp/v1/resources/read';

const LIST_HEADERS = { 'Cache-Control': 'private, no-cache' };

/** The two reads. What is wrong with a request is reported in the order in which their steps stand. */
export function readRoutes({ catalogue, partition, compressMinBytes, encode, now }: ReadRoutesOptions): Routes {
  const readTimed = createReadTimed({ catalogue, now });
  return {
    async '/mcp/v1/resources'(ctx) {
      const { exchange } = ctx.state;
      refuseBody(ctx);
      identify(exchange, credentialOf(ctx.req), partition);
      const codings = negotiate(ctx.req.headers);
      await sendSnapshot(ctx, catalogue.list, {
        codings,
        compressMinBytes,
        encode: (coding) => encode({ snapshot: catalogue.list }, coding),
        headers: () => ({ ...snapshotHeaders(catalogue.list), ...LIST_HEADERS }),
      });
    },

    async [READ_PATH](ctx) {
      const { exchange } = ctx.state;
      refuseBody(ctx);
      const caller = identify(exchange, credentialOf(ctx.req), partition);
      const name = catalogue.find(oneUri(ctx.url));
      exchange.resource = name;
      const codings = negotiate(ctx.req.headers);
      const noCache = forbidsCache(ctx.req.headers['cache-control']);
      const load = await readTimed(exchange, { name, caller, noCache });
      await sendSnapshot(ctx, load.snapshot, {
        codings,
        compressMinBytes,
        encode: (coding) => encode(load, coding),
        headers: () => loadHeaders(load, now()),
      });
    },
  };
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
