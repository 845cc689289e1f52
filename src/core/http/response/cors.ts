import type { HttpResponse } from './send.ts';

/** Fields of a request that a page may set, beside those that it always may (Fetch, section 2.2.2). */
const ALLOWED = [
  ...['Accept', 'Authorization', 'Cache-Control', 'Content-Type', 'If-None-Match', 'Last-Event-ID'],
  ...['Mcp-Method', 'Mcp-Name', 'MCP-Protocol-Version', 'Mcp-Session-Id', 'traceparent', 'tracestate', 'X-Request-Id'],
];

/** Fields of a response that a page may read, beside those that it always may. */
const EXPOSED = [
  ...['Age', 'Allow', 'Cache-Status', 'ETag', 'Mcp-Protocol-Version', 'Portico-Dropped-Items'],
  ...['RateLimit', 'RateLimit-Policy', 'Retry-After', 'WWW-Authenticate', 'X-Request-Id'],
].join(', ');

/** How long a browser caches a preflight. Chromium's maximum is two hours. */
const MAX_AGE_SECONDS = 7200;

const VARY_ORIGIN: readonly string[] = ['Vary', 'Origin'];

/** Opens a response to the pages of all origins: for responses that are the same for all. Alternating names and values. */
export const ANY_ORIGIN: readonly string[] = [
  ...['Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', EXPOSED],
];

/** The web origins that settings list. */
export interface Origins {
  has(origin: string): boolean;
  /** CORS headers of every response to a request of this origin, or of none, alternating names and values. */
  headersFor(origin: string | undefined): readonly string[] | undefined;
}

/**
 * Returns the origins whose pages may read responses (Fetch, section 3.3). Each response names the one origin, never `*`, and
 * has no `Access-Control-Allow-Credentials`: a page sets `Authorization` itself, and a browser has nothing to add. Where
 * origins are listed, every response varies by `Origin`.
 */
export function createOrigins(allowedOrigins: readonly string[]): Origins {
  const headers = new Map(
    allowedOrigins.map((allowed) => {
      const { origin } = new URL(allowed);
      const opened = ['Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', EXPOSED, ...VARY_ORIGIN];
      return [origin, opened];
    }),
  );
  const others = headers.size === 0 ? undefined : VARY_ORIGIN;
  return {
    has: (origin) => headers.has(origin),
    headersFor: (origin) => (origin === undefined ? others : (headers.get(origin) ?? others)),
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

/** Answers a preflight. `credentials`: names of further headers in which a page may send credentials. */
export function preflightResponse(methods: readonly string[], credentials: Iterable<string> = []): HttpResponse {
  const headers = ['Access-Control-Allow-Methods', methods.join(', '), 'Access-Control-Allow-Headers'];
  headers.push([...ALLOWED, ...credentials].join(', '));
  headers.push('Access-Control-Max-Age', String(MAX_AGE_SECONDS), 'Cache-Control', 'no-store');
  return { status: 204, headers, body: undefined };
}
