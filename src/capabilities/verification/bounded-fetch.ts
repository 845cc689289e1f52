import { createRequire } from 'node:module';

export interface BoundedFetchOptions {
  /** Largest body of a response; a larger one ends the exchange. */
  readonly maxBytes: number;
  /** Bound on opening a connection, and on waiting for bytes. */
  readonly timeoutMs: number;
}

/** A request of a library that takes a custom `fetch`. */
export interface FetchInit {
  readonly method?: string | undefined;
  readonly headers?: Headers | Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
  readonly signal?: AbortSignal | null | undefined;
}

/** A client of an authorization server. */
export interface BoundedFetch {
  /**
   * A `fetch` with bounds that follows no redirect and decodes nothing. Rejects with undici's own error if the exchange breaks
   * off, and with the signal's reason when that aborts.
   */
  fetch(url: string | URL, init?: FetchInit): Promise<Response>;
  /** Ends all requests. */
  close(): Promise<void>;
}

/** Statuses without a body: `Response` accepts none for them (Fetch, section 2.2.3). */
const BODILESS: readonly number[] = [204, 205, 304];
const CONNECTIONS = 16;
const MAX_HEADER_BYTES = 16_384;

export function createBoundedFetch({ maxBytes, timeoutMs }: BoundedFetchOptions): BoundedFetch {
  // Loaded only if callers are verified (docs/decisions/0041).
  const { Agent, request }: typeof import('undici') = createRequire(import.meta.url)('undici');
  const agent = new Agent({
    connections: CONNECTIONS,
    allowH2: false,
    connectTimeout: timeoutMs,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: maxBytes,
    maxHeaderSize: MAX_HEADER_BYTES,
  });
  return {
    async fetch(url, { method = 'GET', headers = {}, body, signal } = {}) {
      const sent = body === undefined || body === null ? null : bodyOf(body);
      const response = await request(url, {
        method: method as 'GET' | 'POST',
        headers: { accept: 'application/json', ...Object.fromEntries(new Headers(headers)) },
        body: sent,
        dispatcher: agent,
        ...(signal && { signal }),
      });
      const bytes = await response.body.arrayBuffer();
      return new Response(BODILESS.includes(response.statusCode) ? null : bytes, {
        status: response.statusCode,
        headers: fieldsOf(response.headers),
      });
    },
    close: () => agent.destroy(),
  };
}

function bodyOf(body: unknown): string | Uint8Array {
  return body instanceof Uint8Array ? body : String(body);
}

function fieldsOf(headers: Readonly<Record<string, string | string[] | undefined>>): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => [name, one] as [string, string]),
  );
}
