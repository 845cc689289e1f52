import { ERRORS, type ErrorCode, type ErrorRow, INVALID_REQUEST } from './error-table.ts';

/** Errors worth a retry: no connection, or a lost one. The retry itself decides on statuses. */
type Retryable = 'connect' | 'reset';

export interface GatewayErrorFacts {
  /** Replaces the row's `detail`. Returned to callers, so it must not contain an upstream's text. */
  readonly detail?: string;
  /** Reason for the log only. Never external text. @default that of `bound`, or of the row */
  readonly reason?: string | undefined;
  readonly upstream?: string;
  readonly retryAfterSeconds?: number;
  readonly upstreamStatus?: number;
  readonly allow?: string;
  /** The upstream failed: unreachable, connection lost, too slow, or 5xx. Only these open its breaker. */
  readonly countsForBreaker?: boolean;
  /** Another server failed that was needed first. The upstream was not called. */
  readonly dependencyFailed?: boolean;
  readonly retryable?: Retryable;
  /** All required scopes, when the caller lacks one of them. */
  readonly scopes?: readonly string[] | undefined;
  /** Header of the credential: another access token would not help. */
  readonly header?: string | undefined;
  /** Settings key of the bound that was reached. */
  readonly bound?: string | undefined;
  readonly cause?: unknown;
}

/** Callers receive the row of its `code`, and nothing else that it contains. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly rpc: number;
  readonly title: string;
  readonly detail: string;
  readonly reason: string;
  readonly upstream: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly upstreamStatus: number | undefined;
  readonly allow: string | undefined;
  readonly countsForBreaker: boolean;
  readonly dependencyFailed: boolean;
  readonly retryable: Retryable | undefined;
  readonly scopes: readonly string[] | undefined;
  readonly header: string | undefined;
  readonly bound: string | undefined;
  readonly #facts: GatewayErrorFacts;

  constructor(code: ErrorCode, facts: GatewayErrorFacts = {}) {
    const row: ErrorRow = ERRORS[code];
    const { bound } = facts;
    const { reason = bound === undefined ? (row.reason ?? row.title) : `${bound} is reached` } = facts;
    super(reason, { cause: facts.cause });
    this.code = code;
    this.status = row.status;
    this.rpc = row.rpc ?? INVALID_REQUEST;
    this.title = row.title;
    this.detail = facts.detail ?? row.detail;
    this.reason = reason;
    this.upstream = facts.upstream;
    this.retryAfterSeconds = facts.retryAfterSeconds ?? row.retryAfterSeconds;
    this.upstreamStatus = facts.upstreamStatus;
    this.allow = facts.allow;
    this.countsForBreaker = facts.countsForBreaker ?? false;
    this.dependencyFailed = facts.dependencyFailed ?? false;
    this.retryable = facts.retryable;
    this.scopes = facts.scopes;
    this.header = facts.header;
    this.bound = bound;
    this.#facts = facts;
  }

  inHeader(header: string, detail: string): GatewayError {
    return new GatewayError(this.code, { ...this.#facts, header, detail });
  }

  /** Appends to the reason. */
  explained(text: string): GatewayError {
    return new GatewayError(this.code, { ...this.#facts, reason: this.reason + text });
  }

  from(upstream: string): GatewayError {
    return this.upstream === undefined ? new GatewayError(this.code, { ...this.#facts, upstream }) : this;
  }
}

/** Returns `WWW-Authenticate` of an error, or `undefined` for none. */
export type Challenge = (error: GatewayError) => string | undefined;

/** An error with one text for `detail` and `reason`: fixed, except for figures and names of settings. */
export function errorWithDetail(code: ErrorCode, text: string, facts?: GatewayErrorFacts): GatewayError {
  return new GatewayError(code, { ...facts, detail: text, reason: text });
}

const OF_CREDENTIAL: ReadonlySet<ErrorCode> = new Set([
  'credential_missing',
  'credential_malformed',
  'credential_rejected',
]);

/** Returns whether an error rejects the caller's credential. */
export function isOfCredential(error: GatewayError | undefined): boolean {
  return error !== undefined && OF_CREDENTIAL.has(error.code);
}

const MAX_CAUSES = 5;
/** OpenSSL codes may contain a slash: `ERR_SSL_SSL/TLS_ALERT_UNEXPECTED_MESSAGE`. */
const IDENTIFIER = /^[\w./]{1,64}$/;

/** Returns causes as `Name` or `Name CODE`, outermost first. Never a message: it may contain external text. */
export function causesOf(error: unknown): string[] {
  const causes: string[] = [];
  let cause = error instanceof Error ? error.cause : undefined;
  while (cause instanceof Error && causes.length < MAX_CAUSES) {
    causes.push(nameError(cause));
    cause = cause.cause;
  }
  return causes;
}

/** Returns the error's code, `cancelled` if its signal has aborted, or `internal` for a bug. */
export function codeOf(error: unknown, signal?: AbortSignal): string {
  if (error instanceof GatewayError) return error.code;
  return signal?.aborted ? 'cancelled' : 'internal';
}

/** Formats `Name` or `Name CODE`. Omits text that does not look like one. */
export function nameError(error: Error): string {
  const name = IDENTIFIER.test(error.name) ? error.name : 'Error';
  const code = 'code' in error ? error.code : undefined;
  return typeof code === 'string' && IDENTIFIER.test(code) ? `${name} ${code}` : name;
}

/** May contain external text. */
export function stackOf(thrown: unknown): string {
  return (thrown instanceof Error ? thrown.stack : undefined) ?? `thrown: ${typeof thrown}`;
}
