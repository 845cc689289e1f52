import type { AddressInfo } from 'node:net';
import { explained, GatewayError } from '../../kernel/errors.ts';
import type { Exchange } from '../exchange.ts';
import type { Operation } from '../operations/operation.ts';
import { type Hosts, type HostsOptions, hostsOf, isHost } from './hosts.ts';

/** Fields of a response that a page may read, beside those that it always may. */
const EXPOSED = [
  ...['Age', 'Allow', 'Cache-Status', 'ETag', 'Mcp-Protocol-Version', 'Portico-Dropped-Items'],
  ...['RateLimit', 'RateLimit-Policy', 'Retry-After', 'WWW-Authenticate', 'X-Request-Id'],
].join(', ');

const VARY_ORIGIN: readonly string[] = ['Vary', 'Origin'];

/** Opens a response to the pages of all origins: for responses that are the same for all. Alternating names and values. */
const ANY_ORIGIN: readonly string[] = [
  ...['Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', EXPOSED],
];

export interface AdmitOptions extends HostsOptions {
  readonly maxUrlBytes: number;
  readonly maxHeaderBytes: number;
  /** Where clients find this server: its host and its origin are its own. */
  readonly publicUrl?: string | undefined;
  /** Web origins, beside its own, whose pages may read responses. */
  readonly allowedOrigins: readonly string[];
  /** Where the listener is bound; called once, with the first request. */
  readonly address: () => AddressInfo | string | null;
  /** Whether TLS ends here. */
  readonly isSecure: boolean;
}

/** Admits a request, or throws. */
export type Admit = (exchange: Exchange, operation: Operation) => void;

/** Checks a request before its credential is read. Probes are admitted for any host and origin, at any time. */
export function createAdmit(options: AdmitOptions): Admit {
  const { maxUrlBytes, maxHeaderBytes, alsoHosts = [], allowedOrigins, address, isSecure } = options;
  const publicUrl = options.publicUrl === undefined ? undefined : new URL(options.publicUrl);
  const ownHosts = { ...options, alsoHosts: publicUrl === undefined ? alsoHosts : [...alsoHosts, publicUrl.host] };
  const origins = createOrigins(allowedOrigins);
  let hosts: Hosts | undefined;
  /** The last host that was answered for: most clients name the same one. */
  let lastHost: string | undefined;

  /** Rejects framing that Node's parser accepts. */
  function checkFraming(exchange: Exchange): void {
    const { req, url, target, fields } = exchange;
    if (req.httpVersion !== '1.1' && req.httpVersion !== '1.0') throw invalid('This server speaks HTTP/1.1.');
    if (url.length > maxUrlBytes) throw new GatewayError('uri_too_long', { bound: 'http.maxUrlBytes' });
    if (fields.bytes > maxHeaderBytes) throw new GatewayError('headers_too_large', { bound: 'http.maxHeaderBytes' });
    const { transferEncoding } = fields;
    // RFC 9112, section 6.1. A proxy may see the end of such a body elsewhere: the connection ends with it.
    if (transferEncoding !== undefined && transferEncoding.toLowerCase() !== 'chunked') {
      exchange.takesBody = false;
      throw new GatewayError('transfer_coding_unsupported');
    }
    if (target === undefined) throw invalid('The request target is neither a path nor an http URL.');
  }

  /** Rejects a request for another host, or for two (RFC 9112, section 3.2): a proxy in front may have used the other. */
  function checkHost({ req, target, fields }: Exchange): void {
    const { length } = fields.host;
    if (length > 1 || (length === 0 && req.httpVersion === '1.1')) {
      throw invalid('The request must have exactly one Host header.');
    }
    const named = target?.authority ?? fields.host[0];
    if (named === undefined || named === lastHost) return;
    hosts ??= hostsOf(ownHosts, address());
    if (hosts.answersFor(named)) {
      lastHost = named;
      return;
    }
    throw isHost(named) ? new GatewayError('host_refused') : invalid('The host is not well-formed.');
  }

  /** Rejects requests of web pages, unless their origin is this server's own or allowed (docs/decisions/0005). */
  function checkOrigin({ fields: { origin, host }, target }: Exchange): void {
    if (origin === undefined || origin === publicUrl?.origin || origins.has(origin)) return;
    const named = target?.authority ?? host[0];
    if (named !== undefined && hosts?.isOwn(named) && isSameOrigin(origin, named, isSecure)) return;
    throw new GatewayError('origin_refused');
  }

  return function admit(exchange, { isProbe, takesBody, methods, forAnyPage }) {
    // First of all: pages of allowed origins can read errors, too.
    exchange.originHeaders = forAnyPage ? ANY_ORIGIN : origins.headersFor(exchange.fields.origin);
    checkFraming(exchange);
    if (!isProbe) {
      if (exchange.cameWhileDraining) throw new GatewayError('draining');
      checkHost(exchange);
      if (!forAnyPage) checkOrigin(exchange);
    }
    // A body on a GET has no meaning, and can smuggle a request past a proxy (RFC 9110, section 9.3.1). An unknown path and
    // a wrong method are reported first.
    if (exchange.hasBody && !takesBody && methods.length > 0) throw invalid('This request must not have a body.');
  };
}

function invalid(detail: string): GatewayError {
  return explained('invalid_request', detail);
}

/**
 * Returns the origins whose pages may read responses (Fetch, section 3.3). Each response names the one origin, never `*`, and
 * has no `Access-Control-Allow-Credentials`: a page sets `Authorization` itself, and a browser has nothing to add. Where
 * origins are listed, every response varies by `Origin`.
 */
function createOrigins(allowedOrigins: readonly string[]) {
  const headers = new Map(
    allowedOrigins.map((allowed) => {
      const { origin } = new URL(allowed);
      const opened = ['Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', EXPOSED, ...VARY_ORIGIN];
      return [origin, opened];
    }),
  );
  const others = headers.size === 0 ? undefined : VARY_ORIGIN;
  return {
    has: (origin: string) => headers.has(origin),
    /** Returns the CORS headers of each response to a request of this origin, or of none. */
    headersFor: (origin: string | undefined) => (origin === undefined ? others : (headers.get(origin) ?? others)),
  };
}

/**
 * Whether an origin is that of a listener with this `Host`. Where TLS ends in Portico (`isSecure`), its scheme is `https:`.
 * Elsewhere a proxy may end TLS: then the page is of `https:` although the request came over `http:`, and only the default
 * port depends on the scheme.
 */
export function isSameOrigin(origin: string, host: string, isSecure = false): boolean {
  const page = URL.parse(origin);
  if (page === null || page.origin !== origin || !(isSecure ? /^https:$/ : /^https?:$/).test(page.protocol))
    return false;
  return URL.parse(`${page.protocol}//${host}`)?.host === page.host;
}
