import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { ERRORS, type ErrorCode } from '../../../src/core/kernel/error-table.ts';
import type { RawResponse } from '../platform/raw-response.ts';
import type { Given, Read } from './callers.ts';
import { LIFETIME, TIMEOUT_MS, UPSTREAM_OF } from './scene-settings.ts';
import { editionAt, endOf, oldestEdition } from './truth.ts';

/** Codes that flapping platforms cause. */
export const CAUSED: readonly ErrorCode[] = [
  ...(['credential_rejected', 'access_denied', 'upstream_refused', 'upstream_failed'] as const),
  ...(['upstream_invalid', 'upstream_timeout', 'upstream_rate_limited', 'breaker_open'] as const),
];
/** Every other code is a mistake. */
const EXPECTED: ReadonlySet<string> = new Set<ErrorCode>([...CAUSED, 'overloaded', 'draining']);

/** The process goes by another clock than this one, in whole milliseconds, and its timers may be late. */
const CLOCKS_MS = 250;
const LATE_TIMER_MS = 3000;

type Whose = Pick<Read, 'caller' | 'resource'>;

/** When a platform refused the request with an id. */
export type RefusedAt = (requestId: string) => number | undefined;

/** Holds every response against the truth. */
export function createJudge(refusedAt: RefusedAt) {
  const given = new Map<string, Given>();
  const refused = new Map<string, number>();
  const keyOf = ({ caller, resource }: Whose) => `${caller.mark} ${resource}`;
  const atUpstream = ({ caller, resource }: Whose) => `${caller.mark} ${UPSTREAM_OF[resource]}`;

  function listIn(read: Read, response: RawResponse): Given {
    const tag = response.headers.get('etag') ?? '';
    if (response.status === 304) {
      if (read.known?.tag !== tag) throw new Error('a 304 for another list');
      return read.known;
    }
    const coding = response.headers.get('content-encoding') ?? undefined;
    if (coding !== undefined && coding !== read.coding) throw new Error(`a coding that was not asked for: ${coding}`);
    const bytes = decode(response.body, coding);
    const last = given.get(keyOf(read));
    if (last?.tag === tag && last.bytes.equals(bytes)) return last;
    if (last?.tag === tag) throw new Error('two lists with one tag');
    const list = { tag, bytes, oldest: oldestEdition(read.caller, read.resource, bytes.toString()) };
    given.set(keyOf(read), list);
    return list;
  }

  function checkTime(read: Read, response: RawResponse, { oldest }: Given): void {
    const { resource, begunAt } = read;
    const permitted = permittedAge(read, response);
    const told = `${response.status} ${response.headers.get('cache-status')}`;
    if (permitted === undefined) throw new Error(`not for this request: ${told}`);
    const age = begunAt - endOf(resource, oldest);
    if (age > permitted) throw new Error(`${Math.round(age)} ms too old where ${permitted} are permitted: ${told}`);
    if (oldest > editionAt(resource, performance.now())) throw new Error('from the future');
    // What a caller was shown before the platform refused it is gone for good; loads under way then may still end.
    const isOver = endOf(resource, oldest) < read.refusedAt && !told.includes('collapsed');
    if (isOver) throw new Error(`from before a 401: ${told}`);
  }

  function codeIn(read: Read, response: RawResponse): string {
    const { code, status, requestId } = JSON.parse(response.body.toString());
    if (!EXPECTED.has(code)) throw new Error(`${response.status} ${code}`);
    const inStep = status === response.status && ERRORS[code as ErrorCode].status === status;
    if (!inStep || requestId !== read.requestId || response.headers.get('cache-control') !== 'no-store') {
      throw new Error(`${response.status} with a problem that does not belong to it: ${code} ${status} ${requestId}`);
    }
    if ('retryAfterSeconds' in ERRORS[code as ErrorCode] && !Number(response.headers.get('retry-after'))) {
      throw new Error(`${code} without Retry-After`);
    }
    const at = code === 'credential_rejected' ? refusedAt(requestId) : undefined;
    if (at !== undefined) refused.set(atUpstream(read), Math.max(at, refused.get(atUpstream(read)) ?? 0));
    return code;
  }

  return {
    /** The outcome in a word, as the log has it; throws where the response is wrong. */
    outcomeOf(read: Read, response: RawResponse): string {
      if (response.headers.get('x-request-id') !== read.requestId) throw new Error("another request's response");
      if (response.status !== 200 && response.status !== 304) return codeIn(read, response);
      checkTime(read, response, listIn(read, response));
      return response.status === 200 ? 'ok' : 'not_modified';
    },
    /** The list that a caller was given last, and when the upstream of that list refused the caller last. */
    memoryOf: (whose: Whose) => ({ given: given.get(keyOf(whose)), refusedAt: refused.get(atUpstream(whose)) ?? 0 }),
  };
}

function decode(bytes: Buffer, coding: string | undefined): Buffer {
  if (coding === 'gzip') return gunzipSync(bytes);
  // A copy: what came in the same chunk as the body would be kept with it.
  return coding === 'zstd' ? zstdDecompressSync(bytes) : Buffer.from(bytes);
}

/**
 * Upper bound of the age of a response's content when its read was sent, according to its headers.
 * `undefined` if the headers are invalid.
 */
function permittedAge({ resource, noCache }: Read, response: RawResponse): number | undefined {
  const [name, ...parameters] = response.headers.get('cache-status')?.split('; ') ?? [];
  const has = (parameter: string) => parameters.some((each) => each === parameter || each.startsWith(`${parameter}=`));
  if (name !== 'portico' || has('fwd') === has('hit')) return undefined;
  const { ttlMs, staleWhileRevalidateMs, staleIfErrorMs, minRefreshMs } = LIFETIME;
  if (has('hit')) {
    if (resource === 'projects') return undefined;
    return (noCache ? minRefreshMs : ttlMs + staleWhileRevalidateMs) + CLOCKS_MS;
  }
  if (has('detail')) {
    return noCache || resource === 'projects' ? undefined : ttlMs + staleIfErrorMs + CLOCKS_MS;
  }
  // Another read may have begun the load, up to a deadline before; or it was loaded for this very read.
  return has('collapsed') ? TIMEOUT_MS + LATE_TIMER_MS : 0;
}
