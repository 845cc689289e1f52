import type { GatewayError } from '../kernel/errors.ts';
import { errorOfStatus } from './client/reply-errors.ts';
import { createUpstream, type UpstreamOptions } from './client/upstream-client.ts';
import { type AuthorizationOptions, withAuthorization } from './resilience/with-authorization.ts';
import { type BreakerSettings, type BreakerUpstream, withBreaker } from './resilience/with-breaker.ts';
import { withQueue } from './resilience/with-queue.ts';
import { type RetrySettings, withRetry } from './resilience/with-retry.ts';
import type { LoadTiming, PageRequest, ReplyHeaders, Upstream } from './upstream.ts';

export interface OpenUpstreamOptions
  extends UpstreamOptions,
    Pick<AuthorizationOptions, 'authorize' | 'refused' | 'rememberRejectedMs'> {
  readonly close?: (() => Promise<void>) | undefined;
  /** Deadline of one read, and of a call that probes a failed upstream. */
  readonly timeoutMs: number;
  /** More get `overloaded`. */
  readonly maxQueue: number;
  readonly breaker: BreakerSettings;
  readonly retry: RetrySettings;
  /** @default nothing is wrapped */
  readonly wrapClient?: (client: Upstream, baseUrl: string) => Upstream;
}

/** Opens a remote API: the client, and the layers around it that handle its faults. */
export function openUpstream(options: OpenUpstreamOptions): Upstream & Pick<BreakerUpstream, 'breakerState'> {
  const {
    authorize,
    refused,
    close: closeAuthorization,
    timeoutMs,
    maxQueue,
    rememberRejectedMs,
    breaker: breakerSettings,
    retry,
    wrapClient = (inner) => inner,
    ...client
  } = options;
  const { name, connections, events } = client;
  const instanceId = Symbol(name);
  const now = performance.now.bind(performance);
  const retrying = withRetry(wrapClient(createUpstream(client), client.baseUrl), { ...retry, events, now });
  const breaker = withBreaker(retrying, { ...breakerSettings, probeTimeoutMs: timeoutMs, instanceId, events, now });
  const queued = withQueue(breaker, { slots: connections, maxQueue, instanceId, events, now });
  // Outside the queue: a call that waits for its authorization must not hold a slot.
  const authorized = withAuthorization(queued, {
    ...{ authorize, refused, rememberRejectedMs, events, now },
    check: breaker.check,
  });
  events.upstreamOpened?.({ upstream: name, instanceId });
  return {
    ...authorized,
    async close() {
      await Promise.all([authorized.close(), closeAuthorization?.()]);
      events.upstreamClosed?.({ upstream: name, instanceId });
    },
    get breakerState() {
      return breaker.breakerState;
    },
  };
}

/** Differences from an upstream: no credential, and no list. */
const OF_SERVERS = {
  headers: {},
  usesCallerToken: false,
  rememberRejectedMs: 0,
  authorize: async () => ({}),
} as const;

type OpenServerOptions = Omit<OpenUpstreamOptions, keyof typeof OF_SERVERS | 'baseUrl' | 'maxPageBytes'> & {
  readonly maxBytes: number;
};

/** A request to a server that serves no lists: a GET, or a POST with a body. */
type ServerRequest = Pick<PageRequest<unknown>, 'caller' | 'headers'> & { url: URL; body: string | undefined };

/**
 * Opens a server that an upstream depends on, such as an authorization server: the same layers once for each origin, that of the
 * metadata and that of the endpoint.
 */
export function openServer({ maxBytes, ...options }: OpenServerOptions) {
  const origins = new Map<string, Upstream>();

  function at(origin: string): Upstream {
    const upstream =
      origins.get(origin) ?? openUpstream({ ...options, ...OF_SERVERS, baseUrl: origin, maxPageBytes: maxBytes });
    origins.set(origin, upstream);
    return upstream;
  }

  return {
    /** Rejects with a `GatewayError` for a 5xx, a redirect, a 429 or no response; resolves with any other one. */
    async send({ url, headers, body, caller }: ServerRequest, signal: AbortSignal): Promise<Response> {
      const load: LoadTiming = { dueAt: performance.now() + options.timeoutMs };
      const reply = await at(url.origin).get(
        {
          target: url.pathname + url.search,
          path: url.pathname,
          post: body === undefined ? undefined : { body, isRepeatable: true },
          headers,
          caller,
          errorOf,
          read: (bytes) => bytes,
          load,
        },
        signal,
      );
      load.onLoaded?.(load);
      const passedOn = Object.entries(reply.headers).flatMap(([name, field]) =>
        [field ?? []].flat().map((value) => [name, value]),
      );
      return new Response(reply.page?.length ? new Uint8Array(reply.page) : null, {
        status: reply.status ?? 0,
        headers: passedOn as [string, string][],
      });
    },
    async close() {
      await Promise.all([...origins.values()].map((upstream) => upstream.close()));
    },
  };
}

function errorOf(status: number, headers: ReplyHeaders): GatewayError | undefined {
  // A login is often answered with 201.
  if (status === 201) return undefined;
  const error = errorOfStatus(status, headers, { usesCallerToken: false });
  const isRefusal = error?.code === 'upstream_refused' || error?.code === 'upstream_credential_rejected';
  return isRefusal ? undefined : error;
}
