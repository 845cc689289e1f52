import { createHash, randomBytes } from 'node:crypto';

/** Beginning and end of every token of a load: neither may appear anywhere but in a request. */
export const TOKEN_BEGINS = 'QqSecret';
export const TOKEN_ENDS = 'TerceSqQ';

export const LOADED_RESOURCES = ['projects', 'workflows', 'tools'] as const;
export type LoadedResource = (typeof LOADED_RESOURCES)[number];

export interface LoadCaller {
  readonly index: number;
  readonly token: string;
  /** Identifies this caller's items; does not contain the token. */
  readonly mark: string;
  /** Whether every platform refuses (401) it, whatever the weather. */
  readonly isRefused: boolean;
}

/** What should not have happened, as far as anyone reads on. */
export function createMistakes() {
  const mistakes: string[] = [];
  const report = (mistake: string) => void (mistakes.length < 20 && mistakes.push(mistake));
  return { mistakes: mistakes as readonly string[], report };
}

export function createCallers(count: number, isRefused = false): readonly LoadCaller[] {
  return Array.from({ length: count }, (_, index) => {
    const token = `${TOKEN_BEGINS}-${randomBytes(12).toString('hex')}-${TOKEN_ENDS}`;
    return { index, token, mark: createHash('sha256').update(token).digest('hex').slice(0, 12), isRefused };
  });
}

export interface Given {
  readonly tag: string;
  readonly bytes: Buffer;
  /** The oldest edition in it. */
  readonly oldest: number;
}

export interface Read {
  readonly caller: LoadCaller;
  readonly resource: LoadedResource;
  readonly requestId: string;
  readonly noCache: boolean;
  /** The list whose tag the caller sends along. */
  readonly known: Given | undefined;
  readonly coding: 'gzip' | 'zstd' | undefined;
  /** When it was sent, by the clock of `performance.now()`. */
  readonly begunAt: number;
  /** When this upstream rejected the caller before, as far as the caller has seen it; by the same clock. */
  readonly refusedAt: number;
}

export function requestOf({ caller, resource, requestId, noCache, known, coding }: Read): string {
  return [
    `GET /mcp/v1/resources/read?uri=platform://${resource} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Authorization: Bearer ${caller.token}`,
    `X-Request-Id: ${requestId}`,
    ...(noCache ? ['Cache-Control: no-cache'] : []),
    ...(known === undefined ? [] : [`If-None-Match: ${known.tag}`]),
    ...(coding === undefined ? [] : [`Accept-Encoding: ${coding}`]),
    '\r\n',
  ].join('\r\n');
}
