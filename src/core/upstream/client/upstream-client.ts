import { requestOf } from '../../kernel/caller.ts';
import { isDeadline } from '../../kernel/deadline.ts';
import { causesOf, GatewayError } from '../../kernel/errors.ts';
import type { Events } from '../../kernel/events.ts';
import type { PageRequest, Reply, ReplyHeaders, Tap, Upstream } from '../upstream.ts';
import { ACCEPT_ENCODING, bodyIssue, decodeBody } from './body.ts';
import { cachedReplyError } from './cached-reply.ts';
import { createConnector, type ProxyOptions, type TlsIdentity, type UpstreamTls } from './connector.ts';
import { type CredentialOwner, errorOfExchange, errorOfStatus, withMarkupDetail } from './reply-errors.ts';
import { sendRequest } from './send-request.ts';
import { createUpstreamConnections, type Lease, type UpstreamConnections } from './upstream-connections.ts';

export interface UpstreamOptions extends CredentialOwner {
  /** Its key in settings; part of every error. */
  readonly name: string;
  /** Only its origin is used here: targets include the path prefix. */
  readonly baseUrl: string;
  /**
   * Sent with every request. They may replace `accept` and `user-agent`; the authorization, the request id, the trace and
   * `accept-encoding` win over them. None may frame the message or route it.
   */
  readonly headers: Readonly<Record<string, string>>;
  /** Bound on a TCP connect with its TLS handshake, and on the tunnel through a proxy. */
  readonly connectTimeoutMs: number;
  /** @default Node's own authorities, and no certificate */
  readonly tls?: UpstreamTls | undefined;
  /** @default connections are direct */
  readonly proxy?: ProxyOptions | undefined;
  /** Connections that may be open at once; further requests wait for one. */
  readonly connections: number;
  /** Largest body, before and after decompression. */
  readonly maxPageBytes: number;
  /** Whether entity tags are sent back. @default true */
  readonly conditional?: boolean | undefined;
  /** Handling of a reply to a caller's credential that a shared cache may have sent to others. @default 'error' */
  readonly cachedReplies?: 'error' | 'allow' | undefined;
  readonly events: Events;
  readonly tap?: Tap | undefined;
}

interface Response {
  readonly status: number;
  /** Decoded; `undefined` with a 304. */
  readonly bytes?: Buffer;
  readonly headers: ReplyHeaders;
}

/** Creates an HTTP client of one upstream. It follows no redirect: a credential goes to its configured origin only. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const { name, maxPageBytes, events, tap, conditional = true, cachedReplies = 'error' } = options;
  const refusesCached = cachedReplies === 'error' && (options.usesCallerToken || options.provesToken);
  const { origin } = new URL(options.baseUrl);
  const fixed = {
    accept: 'application/json',
    'user-agent': 'portico',
    ...lowerCased(options.headers),
    'accept-encoding': ACCEPT_ENCODING,
  };
  const fixedWithBody = { 'content-type': 'application/json', ...fixed };
  let connections: UpstreamConnections | undefined;
  let identity: TlsIdentity | undefined;
  let isClosed = false;

  /** Leases a connection. The first call loads undici, and one after TLS files have changed replaces all connections. */
  async function lease(callerKey: string, signal: AbortSignal): Promise<Lease> {
    const { tls, proxy, connectTimeoutMs: timeoutMs } = options;
    const current = await tls?.files.current(signal);
    if (isClosed) throw closed();
    if (connections === undefined || current !== identity) {
      identity = current;
      connections?.retire();
      const connect = createConnector({ timeoutMs, identity, serverName: tls?.serverName, proxy });
      connections = createUpstreamConnections({ origin, connect, max: options.connections });
    }
    return connections.lease(callerKey);
  }

  function headersOf(request: PageRequest<unknown>): Record<string, string> {
    const { caller, post, ifNoneMatch, authorization } = request;
    const headers: Record<string, string> = {
      ...(post?.body === undefined ? fixed : fixedWithBody),
      ...request.headers,
      'x-request-id': caller.requestId,
      ...caller.trace,
    };
    if (ifNoneMatch !== undefined) headers['if-none-match'] = ifNoneMatch;
    return Object.assign(headers, authorization);
  }

  async function exchange(request: PageRequest<unknown>, signal: AbortSignal): Promise<Response> {
    const { target, post, caller, ifNoneMatch } = request;
    const { errorOf = (status, headers) => errorOfStatus(status, headers, options) } = request;
    const method = methodOf(request);
    const headersSent = headersOf(request);
    const tapped = tap?.({ upstream: name, method, origin, target, headers: headersSent, body: post?.body });
    let status = 0;
    let headers: ReplyHeaders = {};
    let error: GatewayError | undefined;
    let heldBytes = 0;
    const hold = (bytes: number) => {
      heldBytes += bytes;
      request.hold?.(bytes);
    };
    const onHead = (...head: [number, ReplyHeaders]) => {
      [status, headers] = head;
      tapped?.answered(status, headers);
      const isNotModified = status === 304 && ifNoneMatch !== undefined;
      error = isNotModified ? undefined : errorOf(status, headers);
      if (refusesCached) error ??= cachedReplyError(headers, Object.keys(request.authorization ?? {}));
      if (!isNotModified) error ??= bodyIssue(headers, maxPageBytes);
      return !isNotModified && error === undefined;
    };
    const bounds = { maxBytes: maxPageBytes, hold };
    try {
      const { client, release } = await lease(caller.credentialKey, signal);
      try {
        const sent = { method, path: target, headers: headersSent, body: post?.body ?? null };
        const body = await sendRequest(client, { ...sent, ...bounds, onHead, onRest: tapped?.rest }, signal);
        if (error !== undefined) throw error;
        if (status === 304) return { status, headers };
        const bytes = await decodeBody(headers, body, bounds, signal);
        tapped?.read(bytes);
        return { status, headers, bytes };
      } finally {
        release();
      }
    } catch (thrown) {
      hold(-heldBytes);
      const hasBegun = status !== 0;
      if (!signal.aborted) throw errorOfExchange(thrown, hasBegun);
      if (!isDeadline(signal.reason)) throw signal.reason;
      const reason = `the response did not ${hasBegun ? 'end' : 'begin'} in time`;
      throw new GatewayError('upstream_timeout', { countsForBreaker: !request.isShort, reason });
    }
  }

  async function getOnce<P>(request: PageRequest<P>, signal: AbortSignal): Promise<Reply<P>> {
    if (signal.aborted) {
      // A deadline that passed before the request is not a fault of the upstream.
      throw isDeadline(signal.reason) ? new GatewayError('upstream_timeout', { upstream: name }) : signal.reason;
    }
    const method = methodOf(request);
    const startedAt = performance.now();
    let ms = 0;
    let response: Response | undefined;
    const emit = (status: number | undefined, error?: GatewayError) =>
      events.pageFetched?.({
        ...requestOf(request.caller),
        ...{ upstream: name, method, ms, bytes: response?.bytes?.length ?? 0, status },
        ...{ error: error?.code, reason: error?.reason, causes: error && causesOf(error) },
      });
    try {
      try {
        response = await exchange(request, signal);
      } finally {
        ms = performance.now() - startedAt;
      }
      const { status, headers, bytes } = response;
      const page = bytes && (await request.read(bytes, headers));
      emit(status);
      return { page, status, headers };
    } catch (thrown) {
      const error = withMarkupDetail(thrown, response?.bytes);
      const status = (error instanceof GatewayError ? error.upstreamStatus : undefined) ?? response?.status;
      // An abort is reported where it began: a caller that left, or another page.
      if (!(error instanceof GatewayError) || error === signal.reason) throw error;
      emit(status, error);
      throw error.from(name);
    }
  }

  return {
    name,
    async get(asked, signal) {
      const request = conditional ? asked : { ...asked, ifNoneMatch: undefined };
      const reply = await getOnce(request, signal);
      const isConfirmed = reply.page !== undefined || !isOtherEntity(reply.headers['etag'], request.ifNoneMatch);
      return isConfirmed ? reply : getOnce({ ...request, ifNoneMatch: undefined }, signal);
    },
    async close() {
      isClosed = true;
      await connections?.destroy(closed());
    },
  };
}

/** Whether a 304 names another strong entity tag than was sent, so that it confirms nothing (RFC 9111, section 4.3.4). */
function isOtherEntity(tag: string | string[] | undefined, sent: string | undefined): boolean {
  return typeof tag === 'string' && tag.startsWith('"') && sent !== undefined && tag !== sent.replace(/^W\//, '');
}

function closed(): GatewayError {
  return new GatewayError('draining', { reason: 'the upstream client is closed' });
}

function methodOf({ post }: Pick<PageRequest<unknown>, 'post'>): 'GET' | 'POST' {
  return post === undefined ? 'GET' : 'POST';
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([header, value]) => [header.toLowerCase(), value]));
}
