import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { inspect } from 'node:util';
import type { GatewayError } from './errors.ts';
import type { Span, TraceHeaders } from './trace.ts';

/**
 * The caller's token, another header's value, or a secret of the deployment. Every inspector, logger and serializer prints
 * `[credential]`. Only code that creates, sends or verifies credentials may call {@link Credential.reveal}.
 */
export class Credential {
  readonly #token: string;

  constructor(token: string) {
    this.#token = token;
  }

  reveal(): string {
    return this.#token;
  }

  toString(): string {
    return '[credential]';
  }

  toJSON(): string {
    return '[credential]';
  }

  [inspect.custom](): string {
    return '[credential]';
  }
}

export interface Verified {
  /** Subject of the token (`sub`); `undefined` without one. */
  readonly subject: string | undefined;
  /** Keyed hash of issuer and subject, equal for all tokens of one subject. */
  readonly subjectKey: string | undefined;
  /** Scopes of the token that settings name, including implied ones. */
  readonly scopes: ReadonlySet<string>;
  /** Claims that settings name, as text. @default none */
  readonly claims?: ReadonlyMap<string, string> | undefined;
}

/** The caller of a request. */
export interface Caller {
  readonly credential: Credential;
  /** The access token, where `credential` came in another header. */
  readonly accessToken?: Credential | undefined;
  /** Keyed hash of the credential. Names shared loads, rejected tokens, bulkhead slots and log lines. */
  readonly credentialKey: string;
  /** Names whose stored lists the caller may be served, and nothing else. */
  readonly cacheScope: string;
  /** `exp` of the token, in milliseconds since the epoch. Unless verified, it may only shorten lifetimes. */
  readonly expiresAt?: number | undefined;
  /** `undefined` without verification. */
  readonly verified?: Verified | undefined;
  /** For bounds that unverified callers of one address share; `undefined` for verified ones. */
  readonly address?: string | undefined;
  /** Headers that settings name beside `Authorization`, by lower-case name. */
  readonly headerCredentials?: ReadonlyMap<string, readonly Credential[]> | undefined;
  /** Further headers that settings name, by lower-case name. They are not secret. */
  readonly forwarded?: ReadonlyMap<string, readonly string[]> | undefined;
  /** Values of the caller that one upstream is sent beside a credential, as JSON: a part of the caller's identity there. */
  readonly sentValues?: string | undefined;
  readonly requestId: string;
  readonly trace?: TraceHeaders | undefined;
  /** Current span; `undefined` when the trace is not sampled. */
  readonly span?: Span | undefined;
}

export function withSpan<T extends Pick<Caller, 'span' | 'trace'>>(caller: T, span: Span | undefined): T {
  return span === undefined ? caller : { ...caller, span, trace: span.headers };
}

/** Returns the key for counting requests: the subject's if verified, otherwise the token's. */
export function rateLimitKey({ credentialKey: key, verified }: Pick<Caller, 'credentialKey' | 'verified'>): string {
  return verified?.subjectKey ?? key;
}

/** Returns the request of a caller, for events. */
export function requestOf({ requestId, trace }: Pick<Caller, 'requestId' | 'trace'>): RequestRef {
  return trace === undefined ? { requestId } : { requestId, traceId: trace.traceparent.slice(3, 35) };
}

/** Matches a credential that a header transports unchanged (RFC 9110, section 5.5). */
export const HEADER_VALUE = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;

/** Visible ASCII: platforms use more characters than RFC 6750 allows. Without spaces, keys that join texts by one are unambiguous. */
export const TOKEN = /^[\x21-\x7e]+$/;

/** Matches the text that clients send for a token that was not filled in: `${...}`, `$NAME`, `<...>`, `{{...}}`, `{env:...}`, `YOUR_TOKEN`. */
const PLACEHOLDER = /^(?:\$\{.+\}|\$[A-Z_][A-Z0-9_]*|<.+>|\{\{.+\}\}|\{env:.+\})$/;
const YOURS = /^your[-_](?:[a-z]+[-_])*(?:token|key)(?:[-_]here)?$/i;

/** Describes, without repeating any of it, why a text cannot be a {@link TOKEN} or {@link HEADER_VALUE}; `undefined` if it can. */
export function flawOf(text: string, form: RegExp): string | undefined {
  if (PLACEHOLDER.test(text) || YOURS.test(text)) return 'it is a placeholder that was not replaced by a value';
  if (form.test(text)) return undefined;
  if (text === '') return 'it is empty';
  if (/[^\p{ASCII}]/u.test(text)) return 'it contains a character outside ASCII';
  return /[^\P{Cc}\s]/u.test(text) ? 'it contains a control character' : 'it contains white space';
}

/** A client of MCP as it describes itself: short texts without hidden characters. */
export interface ClientRecord {
  readonly name: string | undefined;
  readonly version: string | undefined;
  /** Set where it stated no name. */
  readonly userAgent: string | undefined;
  /** Revision of the protocol, of a closed list. */
  readonly revision: string | undefined;
}

/** Facts about one request, filled in while it is answered. */
export interface RequestRecord {
  readonly edge: 'http' | 'stdio';
  /** Needs no escaping in JSON, like `traceId` and `callerKey`. */
  readonly requestId: string;
  traceId?: string | undefined;
  /** Set when the trace is recorded. */
  span?: Span | undefined;
  /** `performance.now()` when the request, or its headers, had arrived. */
  readonly startedAt: number;
  /** 0 until it has ended. */
  ms: number;
  /** Milliseconds until the response began that stays open; absent for other responses. */
  headMs?: number | undefined;
  readonly method?: string | undefined;
  /** Pattern of the path, never the path itself. */
  route?: string | undefined;
  /** JSON-RPC method, of a closed list. */
  rpc?: string | undefined;
  /** Name of the tool, of a closed list. */
  tool?: string | undefined;
  client?: ClientRecord | undefined;
  resource?: string | undefined;
  status?: number | undefined;
  /** `ok`, `not_modified`, the error's code, or the reason for no response. */
  outcome: string;
  /** Bytes of the response body; 0 if not sent completely. */
  bytes: number;
  upstreamMs?: number | undefined;
  /** `performance.now()` while a read has not ended. */
  readSince?: number | undefined;
  /** Outcome of the cache: `hit`, `shared`, `stale`, `miss`, `refreshed`, `collapsed`, `bypass`. */
  cache?: string | undefined;
  callerKey?: string | undefined;
  error?: GatewayError | undefined;
  /** The upstream's error, when a stale snapshot replaced it. */
  staleFor?: GatewayError | undefined;
}

/** Sets the times of a request that has ended. */
export function endRecord(record: RequestRecord): void {
  const now = performance.now();
  record.ms = now - record.startedAt;
  // The read has failed, or its caller has left.
  if (record.readSince !== undefined) record.upstreamMs = now - record.readSince;
}

/** The request that work belongs to; for shared work, the one that started it. */
export interface RequestRef {
  readonly requestId: string;
  readonly traceId?: string | undefined;
}

/** Returns `error_type` of an HTTP request for metrics and traces. By OpenTelemetry's conventions a 4xx has none. */
export function errorTypeOf({ outcome, error, status = 500 }: RequestRecord): string | undefined {
  if (outcome === 'ok' || outcome === 'not_modified') return undefined;
  const isAnswered = outcome === error?.code;
  return isAnswered && status < 500 ? undefined : outcome;
}

/** Distinguishes processes: of 100,000 that ever ran, two have the same with a chance of 1 in 10^9. */
const PROCESS = randomBytes(8).toString('hex');

let count = 0;

export function newRequestId(): string {
  count += 1;
  return `${PROCESS}-${count.toString(36)}`;
}
