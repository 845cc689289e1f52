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

/** Seconds for which a browser need not ask again: no browser keeps it longer than Chromium's two hours and Firefox's day. */
const MAX_AGE_SECONDS = 7200;

/** Stands with every response of a listener that has origins to open responses to. Names and values by turns. */
export const VARY_ORIGIN: readonly string[] = ['Vary', 'Origin'];

/**
 * What opens a response to the pages of one origin (Fetch, section 3.3). It names that origin, never `*`, and there is no
 * `Access-Control-Allow-Credentials`: a page sets `Authorization` itself, and a browser has nothing of its own to add.
 */
export function corsHeaders(origin: string): readonly string[] {
  return ['Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', EXPOSED, ...VARY_ORIGIN];
}

/** What opens a response to the pages of all origins: one that says nothing of who asks. Names and values by turns. */
export const FOR_ANY_PAGE: readonly string[] = [
  ...['Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', EXPOSED],
];

/** What a browser is told that asks first: what a page may send, credentials in headers of their own too. For which origin, `corsHeaders` says. */
export function preflightResponse(methods: readonly string[], credentials: Iterable<string> = []): HttpResponse {
  const headers = ['Access-Control-Allow-Methods', methods.join(', '), 'Access-Control-Allow-Headers'];
  headers.push([...ALLOWED, ...credentials].join(', '));
  headers.push('Access-Control-Max-Age', String(MAX_AGE_SECONDS), 'Cache-Control', 'no-store');
  return { status: 204, headers, body: undefined };
}
