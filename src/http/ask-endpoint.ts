import type { Caller } from '../kernel/caller.ts';
import type { Logger } from '../observability/logger.ts';
import { cacheWord } from './cache-headers.ts';
import type { Endpoint, EndpointAnswer, EndpointFacts } from './endpoint.ts';
import type { Exchange } from './exchange.ts';
import { forbidsCache } from './forbids-cache.ts';
import { logBug } from './log-bug.ts';
import { readBody } from './read-body.ts';

export interface AskEndpointOptions {
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Reads the body of a request whose headers are in order, and has an endpoint answer it until the caller is gone; the
 * access log hears what the endpoint has to tell. Throws what `readBody` and the endpoint throw.
 */
export function createAskEndpoint({ logger, now }: AskEndpointOptions) {
  return async function askEndpoint(
    exchange: Exchange,
    { maxBodyBytes, answer }: Pick<Endpoint, 'maxBodyBytes' | 'answer'>,
    caller: Caller,
  ): Promise<EndpointAnswer> {
    const { headers } = exchange.req;
    const body = await readBody(exchange, maxBodyBytes);
    let controller: AbortController | undefined;
    exchange.onGone = () => controller?.abort();
    const note = ({ load, failure, ...facts }: EndpointFacts) => {
      Object.assign(exchange, facts);
      if (load !== undefined) exchange.cache = cacheWord(load, now());
      if (failure !== undefined) exchange.failure = failure;
    };
    try {
      const answered = await answer({
        headers,
        body,
        caller,
        // Made for who looks at it: that costs more than most else here.
        get signal() {
          controller ??= new AbortController();
          if (exchange.gone) controller.abort();
          return controller.signal;
        },
        noCache: forbidsCache(headers['cache-control']),
        logBug: (error) => logBug(logger, exchange, error),
        note,
      });
      exchange.outcome = exchange.failure?.code ?? 'ok';
      return answered;
    } finally {
      exchange.onGone = undefined;
    }
  };
}
