import type { Caller } from '../kernel/caller.ts';
import type { GatewayError } from '../kernel/errors.ts';
import { errorOfStatus } from './client/exchange-errors.ts';
import { type OpenUpstreamOptions, openUpstream } from './open-upstream.ts';
import type { BreakerUpstream } from './resilience/with-breaker.ts';
import type { ReplyHeaders } from './upstream.ts';

/** What is asked of a server that gives no lists. */
export interface ServerRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** What is posted: twice, where the first time was lost. `undefined`: it is a GET. */
  readonly body: string | undefined;
  readonly caller: Caller;
}

/** A server that an upstream depends on. */
export interface Server {
  /**
   * Sends one request. Rejects with a `GatewayError` where no response comes, or one that says no more than its status (a 5xx,
   * a redirect, a 429); resolves with any other, a refusal among them.
   */
  send(request: ServerRequest, signal: AbortSignal): Promise<Response>;
  close(): Promise<void>;
}

export type OpenServerOptions = Pick<
  OpenUpstreamOptions,
  | 'name'
  | 'tls'
  | 'proxy'
  | 'timeoutMs'
  | 'connectTimeoutMs'
  | 'connections'
  | 'maxQueue'
  | 'breaker'
  | 'retry'
  | 'events'
> & {
  /** Largest body of a response. */
  readonly maxBytes: number;
};

/** Origins that are asked at once: that of the metadata, and that of the endpoint which it names. */
const MAX_ORIGINS = 2;

/** The same layers as around a platform, for each origin of its own: breaker, bulkhead, retry, bounds; no redirects. */
export function openServer({ maxBytes, ...options }: OpenServerOptions): Server {
  const origins = new Map<string, BreakerUpstream>();

  function at(origin: string): BreakerUpstream {
    const upstream =
      origins.get(origin) ??
      openUpstream({
        ...options,
        baseUrl: origin,
        headers: {},
        keptConnections: 'shared',
        allowH2: false,
        maxPageBytes: maxBytes,
        callersOwn: false,
        rememberRejectedMs: 0,
        authorize: async () => ({}),
      });
    // The one that was asked last stays longest.
    origins.delete(origin);
    origins.set(origin, upstream);
    for (const [other, unused] of origins) {
      if (origins.size <= MAX_ORIGINS) break;
      origins.delete(other);
      unused.close();
    }
    return upstream;
  }

  return {
    async send({ url, headers, body, caller }, signal) {
      let status = 0;
      const reply = await at(url.origin).get(
        {
          target: url.pathname + url.search,
          path: url.pathname,
          post: body === undefined ? undefined : { body, isRepeatable: true },
          headers,
          caller,
          errorOf(answered, replied) {
            status = answered;
            return errorOf(answered, replied);
          },
          read: (bytes) => bytes,
        },
        signal,
      );
      const type = reply.headers['content-type'];
      return new Response(new Uint8Array(reply.page ?? []), {
        status,
        headers: typeof type === 'string' ? { 'content-type': type } : {},
      });
    },
    async close() {
      await Promise.all([...origins.values()].map((upstream) => upstream.close()));
    },
  };
}

/** A refusal says why in its body. */
function errorOf(status: number, headers: ReplyHeaders): GatewayError | undefined {
  const error = errorOfStatus(status, headers, { callersOwn: false });
  const isRefusal = error?.code === 'upstream_refused' || error?.code === 'upstream_credential_rejected';
  return isRefusal ? undefined : error;
}
