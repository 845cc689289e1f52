// biome-ignore lint/suspicious/noExplicitAny: taken apart here.
type Json = any;

/** What one read came to, whichever way it went. */
export interface Outcome {
  /** The list as text. */
  readonly text?: string | undefined;
  /** Remaining freshness, if the transport reports it. */
  readonly ttlMs?: number | undefined;
  /** Where the list comes from, if the transport reports it. */
  readonly provenance?: Json;
  readonly error?: ReadError | undefined;
}

export interface ReadError {
  readonly code: string;
  readonly upstream: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** Status over HTTP; without HTTP, or where it is 200, the code of JSON-RPC. */
  readonly number: number;
}

function errorOf(facts: Json, number: number, requestId: string | null): ReadError {
  const { code, upstream, retryAfterSeconds } = facts;
  if (typeof facts.requestId !== 'string' || facts.requestId !== (requestId ?? facts.requestId)) {
    throw new Error('no requestId, or another than the header has');
  }
  return { code, upstream, retryAfterSeconds, number };
}

/** Of an HTTP read. */
export async function httpOutcome(response: Response): Promise<Outcome> {
  const { status, headers } = response;
  const text = await response.text();
  if (status === 200) return { text, ttlMs: remainingMs(headers) };
  return { error: problemOf(response, text) };
}

/** Of a JSON-RPC answer over HTTP: a credential that is missing or malformed is a problem of HTTP there, too. */
export async function rpcOutcome(response: Response): Promise<Outcome> {
  const text = await response.text();
  const type = response.headers.get('content-type');
  if (type === 'application/problem+json') return { error: problemOf(response, text) };
  if (response.status !== 200) throw new Error(`status ${response.status}`);
  return messageOutcome([JSON.parse(text)].flat()[0], response.headers.get('x-request-id'));
}

/** Of a JSON-RPC answer. */
export function messageOutcome({ result, error }: Json, requestId: string | null): Outcome {
  if (error !== undefined) return { error: errorOf(error.data, error.code, requestId) };
  const provenance = result._meta?.['portico/list'];
  if (result.content !== undefined) return { text: result.content[0].text };
  return { text: result.contents[0].text, ttlMs: result.ttlMs, provenance };
}

function problemOf({ status, headers }: Response, text: string): ReadError {
  const problem: Json = JSON.parse(text);
  const retryAfter = headers.get('retry-after');
  if ((retryAfter === null ? undefined : Number(retryAfter)) !== problem.retryAfterSeconds) {
    throw new Error(`Retry-After is ${retryAfter}`);
  }
  return errorOf(problem, status, headers.get('x-request-id'));
}

/** What `Cache-Control` and `Age` leave of the freshness. */
function remainingMs(headers: Headers): number {
  const maxAge = /max-age=(\d+)/.exec(headers.get('cache-control') ?? '')?.[1] ?? 0;
  return Math.max(0, Number(maxAge) - Number(headers.get('age') ?? 0)) * 1000;
}
