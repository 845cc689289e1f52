import { under } from '../../kernel/caller.ts';
import { causesOf, codeOf } from '../../kernel/causes.ts';
import { isDeadline } from '../../kernel/deadline.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Events } from '../../kernel/events.ts';
import type { Span } from '../../kernel/span.ts';
import { requestOf } from '../../kernel/trace.ts';
import type { PageRequest, ReplyHeaders, Upstream } from '../upstream.ts';
import { ACCEPT_ENCODING, checkBody, decodeBody } from './body.ts';
import { createConnector, type UpstreamTls } from './connector.ts';
import { errorOfExchange, errorOfStatus } from './exchange-errors.ts';
import { createConnections, type KeptConnections } from './kept-connections.ts';
import { receive } from './receive.ts';
import type { Tap } from './tap.ts';
import type { ProxyOptions } from './tunnels.ts';

export interface UpstreamOptions {
  /** As settings call it; stands in every error. */
  readonly name: string;
  /** Only its origin is used here: a target holds the path prefix already. */
  readonly baseUrl: string;
  /**
   * Sent with every request. They may replace `accept` and `user-agent`; what Portico itself has to say (the
   * authorization, the request id, the trace, `accept-encoding`) wins over them. None may frame the message or route it.
   */
  readonly headers: Readonly<Record<string, string>>;
  /** How long one connection may take to open, a proxy and TLS included. */
  readonly connectTimeoutMs: number;
  /** @default Node's own authorities, and no certificate */
  readonly tls?: UpstreamTls | undefined;
  /** @default connections are direct */
  readonly proxy?: ProxyOptions | undefined;
  /** Connections that may be open at once; further requests wait for one. */
  readonly connections: number;
  readonly keptConnections: KeptConnections;
  readonly allowH2: boolean;
  /** Largest body, before and after decompression. */
  readonly maxPageBytes: number;
  /**
   * Whether the upstream is given the caller's own token: then it is the caller's business that it does not accept it
   * (401, 403), else that of Portico's operator (502).
   */
  readonly callersOwn: boolean;
  /**
   * Whether what it is given in place of that was made for the caller: then it is the caller's business what it may see
   * (403). @default false
   */
  readonly madeForCaller?: boolean | undefined;
  readonly events: Events;
  readonly tap?: Tap | undefined;
}

const JSON_TYPE = { 'content-type': 'application/json' };

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** What one request brought. */
interface Response {
  readonly status: number;
  /** Decoded; `undefined` with a 304. */
  readonly bytes: Buffer | undefined;
  readonly headers: ReplyHeaders;
}

/** An upstream over HTTP. Follows no redirect, so that a credential goes to its configured origin only. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const { name, maxPageBytes, events, tap } = options;
  const { origin, protocol, hostname, port } = new URL(options.baseUrl);
  const server = { upstream: name, host: hostname, port: Number(port) || DEFAULT_PORTS[protocol] };
  const { allowH2, tls, proxy } = options;
  const connector = createConnector({ timeoutMs: options.connectTimeoutMs, allowH2, tls, proxy });
  const connections = createConnections({
    origin,
    max: options.connections,
    kept: options.keptConnections,
    allowH2,
    connector,
    onUnasked: () => events.unsolicitedResponse?.({ upstream: name }),
    now: () => performance.now(),
  });
  const fixed = {
    accept: 'application/json',
    'user-agent': 'portico',
    ...lowerCased(options.headers),
    'accept-encoding': ACCEPT_ENCODING,
  };

  function headersOf(request: PageRequest<unknown>): Record<string, string> {
    const { caller, post, ifNoneMatch, authorization } = request;
    const headers: Record<string, string> = {
      ...(post?.body !== undefined && JSON_TYPE),
      ...fixed,
      ...request.headers,
      'x-request-id': caller.requestId,
      ...caller.trace,
    };
    if (ifNoneMatch !== undefined) headers['if-none-match'] = ifNoneMatch;
    return Object.assign(headers, authorization);
  }

  /** The span of one request, where its trace is kept. */
  function beginSpan({ caller, path = '', resends, ...request }: PageRequest<unknown>): Span | undefined {
    return caller.span?.begin('call', { ...server, method: methodOf(request), url: `${origin}${path}`, resends });
  }

  async function exchange(request: PageRequest<unknown>, signal: AbortSignal): Promise<Response> {
    let status = 0;
    const headersSent = headersOf(request);
    const { target, post } = request;
    const { errorOf = (answered, headers) => errorOfStatus(answered, headers, options) } = request;
    const method = methodOf(request);
    const tapped = tap?.({ upstream: name, method, origin, target, headers: headersSent, body: post?.body });
    const judge = (answered: number, headers: ReplyHeaders): boolean => {
      status = answered;
      tapped?.answered(status, headers);
      if (status === 304 && request.ifNoneMatch !== undefined) return false;
      const error = errorOf(status, headers);
      if (error !== undefined) throw error;
      checkBody(headers, maxPageBytes);
      return true;
    };
    let held = 0;
    const hold = (bytes: number) => {
      held += bytes;
      request.hold?.(bytes);
    };
    const { dispatcher, once, release } = await connections.lease(request.caller.key);
    const sent = { path: target, post, headers: headersSent, reset: once };
    try {
      const options = { judge, maxBytes: maxPageBytes, hold, onRest: tapped?.rest };
      const { headers, body } = await receive(dispatcher, sent, options, signal).finally(release);
      const bytes = body && (await decodeBody(headers, body, { maxBytes: maxPageBytes, hold, signal }));
      if (bytes !== undefined) tapped?.read(bytes);
      return { status, headers, bytes };
    } catch (error) {
      hold(-held);
      if (!signal.aborted) throw errorOfExchange(error, status > 0);
      throw isDeadline(signal.reason) ? new GatewayError('upstream_timeout', { fault: true }) : signal.reason;
    }
  }

  return {
    name,
    async get(request, signal) {
      if (signal.aborted) {
        // The upstream is not to blame for a deadline that passed before it was asked.
        throw isDeadline(signal.reason) ? new GatewayError('upstream_timeout', { upstream: name }) : signal.reason;
      }
      const method = methodOf(request);
      const begun = performance.now();
      let ms = 0;
      let response: Response | undefined;
      const span = beginSpan(request);
      const caller = under(request.caller, span);
      const tell = (status: number | undefined, error?: GatewayError) =>
        events.pageFetched?.({
          ...requestOf(request.caller),
          ...{ upstream: name, method, ms, bytes: response?.bytes?.length ?? 0, status },
          ...{ error: error?.code, reason: error?.reason, causes: error && causesOf(error) },
        });
      try {
        response = await exchange({ ...request, caller }, signal).finally(() => {
          ms = performance.now() - begun;
        });
        const { status, headers, bytes } = response;
        const page = bytes && (await request.read(bytes, headers));
        span?.end({ status });
        tell(status);
        return { page, headers };
      } catch (error) {
        const status = (error instanceof GatewayError ? error.upstreamStatus : undefined) ?? response?.status;
        span?.end({ status, error: codeOf(error, signal) });
        // Who aborted it, a caller that left or another page, has its own to tell.
        if (!(error instanceof GatewayError) || error === signal.reason) throw error;
        tell(status, error);
        throw error.from(name);
      }
    },
    async close() {
      const ended = connections.destroy(new GatewayError('draining', { reason: 'the upstream client is closed' }));
      connector.close();
      await ended;
    },
  };
}

function methodOf({ post }: Pick<PageRequest<unknown>, 'post'>): 'GET' | 'POST' {
  return post === undefined ? 'GET' : 'POST';
}

/** The same headers, with names as they are compared. */
export function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([header, value]) => [header.toLowerCase(), value]));
}
