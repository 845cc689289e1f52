import { findBearer } from '../credentials/bearer.ts';
import type { Partitioner } from '../credentials/partition.ts';
import type { createAskEndpoint } from './ask-endpoint.ts';
import { discardBody } from './body.ts';
import type { FramingLimits } from './checks/framing.ts';
import type { Connections } from './connections.ts';
import type { Ahead } from './edge.ts';
import type { Endpoint } from './endpoint.ts';
import { type Exchange, openExchange } from './exchange.ts';
import { identify } from './identify.ts';
import { PLAIN_POST, plainFields } from './plain-fields.ts';
import type { QuickWay } from './quick-way.ts';
import { isPlainJson } from './routes/endpoint.ts';

export interface AnswerPostsOptions {
  readonly endpoints: readonly Endpoint[];
  readonly partition: Partitioner;
  readonly limits: FramingLimits;
  readonly connections: Connections;
  readonly ask: ReturnType<typeof createAskEndpoint>;
  readonly way: QuickWay;
}

/**
 * Has endpoints answer ahead of Koa and its layers, as {@link answerAhead} answers reads: where nothing about the headers
 * of a request is out of the ordinary. Whatever its body turns out to be, it is the endpoint that answers.
 */
export function answerPosts({ endpoints, partition, limits, connections, ask, way }: AnswerPostsOptions): Ahead {
  const byPath = new Map(
    endpoints.filter(({ path }) => path.length <= limits.maxUrlBytes).map((endpoint) => [endpoint.path, endpoint]),
  );

  async function fail(exchange: Exchange, error: unknown): Promise<void> {
    if (!exchange.gone && !exchange.req.readableEnded) await discardBody(exchange.req);
    way.fail(exchange, error);
  }

  return function ahead(req, res) {
    const endpoint = byPath.get(req.url ?? '');
    if (endpoint === undefined || req.method !== 'POST') return false;
    const fields = plainFields(req.rawHeaders, PLAIN_POST);
    if (fields?.authorization === undefined || fields.contentType === undefined) return false;
    if (!way.isInOrder(req, fields) || !isPlainJson(req.headers)) return false;
    if (fields.length === undefined || Number(fields.length) > endpoint.maxBodyBytes) return false;
    const credential = findBearer(fields.authorization);
    if (credential === undefined) return false;

    const exchange = openExchange(req, res, [fields.authorization], fields);
    exchange.route = endpoint.path;
    if (!connections.begin(exchange)) return true;
    const caller = identify(exchange, credential, partition);
    ask(exchange, endpoint, caller)
      .then(({ status, headers, body }) => way.send(exchange, status, headers, body))
      .catch((error) => fail(exchange, error));
    return true;
  };
}
