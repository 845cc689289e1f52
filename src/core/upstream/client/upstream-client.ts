import { requestOf } from '../../kernel/caller.ts';
import { isDeadline } from '../../kernel/deadline.ts';
import { causesOf, GatewayError } from '../../kernel/errors.ts';
import type { Events } from '../../kernel/events.ts';
import type { PageRequest, ReplyHeaders, Tap, Upstream } from '../upstream.ts';
import { createConnector, type ProxyOptions, type TlsIdentity, type UpstreamTls } from './connector.ts';
import { type CredentialOwner, errorOfExchange, errorOfStatus } from './exchange-errors.ts';
import { type Connections, createConnections, type KeptConnections } from './kept-connections.ts';
import { ACCEPT_ENCODING, bodyIssue, decodeBody, type ReceiveOptions, receive } from './receive.ts';

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
  readonly keptConnections: KeptConnections;
  readonly allowH2: boolean;
  /** Largest body, before and after decompression. */
  readonly maxPageBytes: number;
  readonly events: Events;
  readonly tap?: Tap | undefined;
}

interface Response {
  readonly status: number;
  /** Decoded; `undefined` with a 304. */
  readonly bytes: Buffer | undefined;
  readonly headers: ReplyHeaders;
}

/** Creates an HTTP client of one upstream. It follows no redirect: a credential goes to its configured origin only. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const { name, maxPageBytes, events, tap } = options;
  const { origin } = new URL(options.baseUrl);
  const fixed = {
    accept: 'application/json',
    'user-agent': 'portico',
    ...lowerCased(options.headers),
    'accept-encoding': ACCEPT_ENCODING,
  };
  const fixedWithBody = { 'content-type': 'application/json', ...fixed };
  let connections: Connections | undefined;
  let identity: TlsIdentity | undefined;
  let isClosed = false;

  /** Opens the connections with the first request, so that a start does not load undici, and again when TLS files change. */
  async function openConnections(signal: AbortSignal): Promise<Connections> {
    const { allowH2, tls, proxy, connectTimeoutMs: timeoutMs } = options;
    const current = await tls?.files.current(signal);
    if (isClosed) throw closed();
    if (connections === undefined || current !== identity) {
      identity = current;
      const connect = createConnector({ timeoutMs, allowH2, identity, serverName: tls?.serverName, proxy });
      connections?.renew(connect);
      connections ??= createConnections({
        ...{ origin, allowH2, connect, max: options.connections, kept: options.keptConnections },
        onUnsolicited: () => events.unsolicitedResponse?.({ upstream: name }),
        now: () => performance.now(),
      });
    }
    return connections;
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
    const { target, post, caller } = request;
    const method = methodOf(request);
    const headersSent = headersOf(request);
    const { errorOf = (status, headers) => errorOfStatus(status, headers, options) } = request;
    const tapped = tap?.({ upstream: name, method, origin, target, headers: headersSent, body: post?.body });
    let begun = false;
    let held = 0;
    const judge: ReceiveOptions['judge'] = (status, headers) => {
      begun = true;
      request.enter('body');
      tapped?.answered(status, headers);
      if (status === 304 && request.ifNoneMatch !== undefined) return null;
      return errorOf(status, headers) ?? bodyIssue(headers, maxPageBytes);
    };
    const hold = (bytes: number) => {
      held += bytes;
      request.hold?.(bytes);
    };
    const onConnected = () => request.enter('first byte');
    const receiving = { judge, onConnected, maxBytes: maxPageBytes, hold, onRest: tapped?.rest };
    request.enter('connect');
    try {
      const { dispatcher, once, release } = await (await openConnections(signal)).lease(caller.credentialKey);
      const sent = {
        method,
        path: target,
        headers: headersSent,
        body: post?.body ?? null,
        ...(once && { reset: true }),
      };
      const { status, headers, body } = await receive(dispatcher, sent, receiving, signal).finally(release);
      const bytes = body && (await decodeBody(headers, body, receiving, signal));
      if (bytes !== undefined) tapped?.read(bytes);
      return { status, headers, bytes };
    } catch (error) {
      hold(-held);
      if (!signal.aborted) throw errorOfExchange(error, begun);
      throw isDeadline(signal.reason)
        ? new GatewayError('upstream_timeout', { countsForBreaker: true, reason: tooLate(begun) })
        : signal.reason;
    }
  }

  return {
    name,
    async get(request, signal) {
      if (signal.aborted) {
        // A deadline that passed before the request is not a fault of the upstream.
        throw isDeadline(signal.reason) ? new GatewayError('upstream_timeout', { upstream: name }) : signal.reason;
      }
      const method = methodOf(request);
      const begun = performance.now();
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
          ms = performance.now() - begun;
        }
        const { status, headers, bytes } = response;
        request.enter('mapping');
        const page = bytes && (await request.read(bytes, headers));
        emit(status);
        return { page, status, headers };
      } catch (error) {
        const status = (error instanceof GatewayError ? error.upstreamStatus : undefined) ?? response?.status;
        // An abort is reported where it began: a caller that left, or another page.
        if (!(error instanceof GatewayError) || error === signal.reason) throw error;
        emit(status, error);
        throw error.from(name);
      }
    },
    async close() {
      isClosed = true;
      await connections?.destroy(closed());
    },
  };
}

function tooLate(begun: boolean): string {
  return begun ? 'the response did not end in time' : 'the response did not begin in time';
}

function closed(): GatewayError {
  return new GatewayError('draining', { reason: 'the upstream client is closed' });
}

function methodOf({ post }: Pick<PageRequest<unknown>, 'post'>): 'GET' | 'POST' {
  return post === undefined ? 'GET' : 'POST';
}

export function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([header, value]) => [header.toLowerCase(), value]));
}
