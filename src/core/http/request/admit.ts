import type { AddressInfo } from 'node:net';
import { errorWithDetail, GatewayError } from '../../kernel/errors.ts';
import type { HttpRequest } from '../http-request.ts';
import { createClientAddress } from './client-address.ts';
import { createIsOwnHost, isHost, isSameOrigin } from './hosts.ts';

/** Fields of a response that a page may read, beside those that it always may. */
const EXPOSED = [
  ...['Age', 'Allow', 'Cache-Status', 'ETag', 'Mcp-Protocol-Version', 'Portico-Dropped-Items'],
  ...['RateLimit', 'RateLimit-Policy', 'Retry-After', 'WWW-Authenticate', 'X-Request-Id'],
].join(', ');

export interface AdmitOptions {
  readonly maxUrlBytes: number;
  readonly maxHeaderBytes: number;
  /** Host names to answer for, with any port, beside IP addresses and loopback names. @default none */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Answers for all other names, too. @default false, except for a Unix socket and without a listener */
  readonly acceptsAnyHost?: boolean | undefined;
  /** Where clients find this server: its host and its origin are its own. */
  readonly publicUrl?: string | undefined;
  /** Web origins, beside its own, whose pages may read responses. */
  readonly allowedOrigins: readonly string[];
  /** Where the listener is bound. `null` without a listener. */
  readonly address: () => AddressInfo | string | null;
  readonly trustedProxies?: readonly string[] | undefined;
}

/** Facts about a path that are known before its operation is found. */
interface PathTraits {
  /** Allowed with any `Host` and `Origin`. @default false */
  readonly isProbe?: boolean;
  /** Pages of all origins may read its responses. @default only those of allowed origins */
  readonly forAnyPage?: boolean;
  /** Request headers that select a response. @default none */
  readonly vary?: string;
}

/** Checks a request before its credential is read, and finds its client's address. */
export function createAdmit(options: AdmitOptions) {
  const { maxUrlBytes, maxHeaderBytes, allowedHosts = [], acceptsAnyHost = false, trustedProxies = [] } = options;
  const publicUrl = options.publicUrl === undefined ? undefined : new URL(options.publicUrl);
  const isOwnHost = createIsOwnHost(publicUrl === undefined ? allowedHosts : [...allowedHosts, publicUrl.hostname]);
  const origins = new Set(options.allowedOrigins);
  const addressOf = createClientAddress(trustedProxies);
  /** Most clients name the same one. */
  let lastHost: string | undefined;

  /** A Unix socket is out of reach for web pages. */
  function isBound(): boolean {
    const address = options.address();
    return address !== null && typeof address !== 'string';
  }

  /** Rejects framing that Node's parser accepts. */
  function checkFraming({ req, target, credentials: { headerBytes } }: HttpRequest): void {
    if (req.httpVersion !== '1.1' && req.httpVersion !== '1.0') throw invalid('This server speaks HTTP/1.1.');
    const { url = '' } = req;
    if (url.length > maxUrlBytes) throw new GatewayError('uri_too_long', { bound: 'http.maxUrlBytes' });
    if (headerBytes > maxHeaderBytes) throw new GatewayError('headers_too_large', { bound: 'http.maxHeaderBytes' });
    const coding = req.headers['transfer-encoding'];
    // RFC 9112, section 6.1. A proxy may see the end of such a body elsewhere: the connection ends with it.
    if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
      throw new GatewayError('transfer_coding_unsupported');
    }
    if (target === undefined) throw invalid('The request target is neither a path nor an http URL.');
  }

  /** Rejects a request for another host, or for two (RFC 9112, section 3.2): a proxy in front may have used the other. */
  function checkHost({ req, host, credentials }: HttpRequest): void {
    if (credentials.hosts > 1 || (credentials.hosts === 0 && req.httpVersion === '1.1')) {
      throw invalid('The request must have exactly one Host header.');
    }
    if (host === undefined || host === lastHost) return;
    if (!isHost(host)) throw invalid('The host is not well-formed.');
    if (!isOwnHost(host) && !acceptsAnyHost && isBound()) throw new GatewayError('host_refused');
    lastHost = host;
  }

  /** Rejects requests of web pages, unless their origin is this server's own or allowed (docs/decisions/0005). */
  function checkOrigin({ req: { headers }, host, isSecure }: HttpRequest): void {
    const { origin } = headers;
    if (origin === undefined || origin === publicUrl?.origin || origins.has(origin)) return;
    if (host !== undefined && isOwnHost(host) && isSameOrigin(origin, host, isSecure)) return;
    throw new GatewayError('origin_refused');
  }

  /**
   * Opens the response to pages (Fetch, section 3.3). Each names the one origin, and has no `Access-Control-Allow-Credentials`: a
   * page sets `Authorization` itself. Where origins are listed, every response varies by `Origin`.
   */
  function openToPages({ req, responseHeaders }: HttpRequest, { forAnyPage = false, vary = '' }: PathTraits): void {
    const { origin } = req.headers;
    const varies = !forAnyPage && origins.size > 0 ? `${vary}, Origin`.replace(/^, /, '') : vary;
    if (varies !== '') responseHeaders['Vary'] = varies;
    const opened = forAnyPage ? '*' : origin;
    if (opened === undefined || !(forAnyPage || origins.has(opened))) return;
    responseHeaders['Access-Control-Allow-Origin'] = opened;
    responseHeaders['Access-Control-Expose-Headers'] = EXPOSED;
  }

  return function admit(request: HttpRequest, traits: PathTraits = {}): void {
    const { isProbe = false, forAnyPage = false } = traits;
    // First of all: pages of allowed origins can read errors, too.
    openToPages(request, traits);
    checkFraming(request);
    if (!isProbe) {
      checkHost(request);
      if (!forAnyPage) checkOrigin(request);
    }
    request.clientAddress = addressOf(request.req);
  };
}

function invalid(detail: string): GatewayError {
  return errorWithDetail('invalid_request', detail);
}
