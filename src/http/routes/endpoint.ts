import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Partitioner } from '../../credentials/partition.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Logger } from '../../observability/logger.ts';
import { createAskEndpoint } from '../ask-endpoint.ts';
import type { Context } from '../context.ts';
import type { Endpoint } from '../endpoint.ts';
import { credentialOf, identify } from '../identify.ts';
import { acceptsJson } from '../negotiate.ts';
import { send } from '../send.ts';
import { parseTarget } from '../target.ts';
import type { Routes } from './router.ts';

export interface EndpointRoutesOptions {
  readonly endpoints: readonly Endpoint[];
  readonly partition: Partitioner;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** RFC 8259 knows no `charset`; clients send it all the same. */
const JSON_BODY = /^application\/json[\t ]*(?:;[\t ]*(?:charset[\t ]*=[\t ]*"?utf-8"?[\t ]*)?)?$/i;

export function endpointRoutes({ endpoints, partition, logger, now }: EndpointRoutesOptions): Routes {
  const askEndpoint = createAskEndpoint({ logger, now });
  const routeOf =
    (endpoint: Endpoint) =>
    async (ctx: Context): Promise<void> => {
      const { exchange } = ctx.state;
      const { headers } = ctx.req;
      const caller = identify(exchange, credentialOf(ctx.req), partition);
      if (!isPlainJson(headers)) throw new GatewayError('unsupported_media_type');
      if (!acceptsJson(headers)) throw new GatewayError('not_acceptable');
      const answer = await askEndpoint(exchange, endpoint, caller);
      const body = Buffer.isBuffer(answer.body) ? answer.body : Buffer.concat(answer.body);
      send(ctx, { ...answer, body });
    };
  return Object.fromEntries(endpoints.map((endpoint) => [endpoint.path, routeOf(endpoint)]));
}

/** Whether a request is for an endpoint, so that its body is meant to be there. */
export function takesBodyFor(endpoints: readonly Endpoint[]): (req: IncomingMessage) => boolean {
  const paths = new Set(endpoints.map(({ path }) => path));
  return ({ method, url = '' }) => method === 'POST' && paths.has(pathOf(url));
}

/** The same before and after the target of a request was brought into origin form. No path where it is no target. */
function pathOf(target: string): string {
  try {
    return parseTarget(target).url.split('?', 1)[0] ?? '';
  } catch {
    return '';
  }
}

/** Whether a body is announced as JSON, and in no coding. */
export function isPlainJson(headers: IncomingHttpHeaders): boolean {
  const { 'content-type': type = '', 'content-encoding': coding = 'identity' } = headers;
  return JSON_BODY.test(type) && coding.toLowerCase() === 'identity';
}
