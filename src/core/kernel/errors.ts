import { ERRORS, type ErrorCode, type ErrorRow, INVALID_REQUEST } from './error-table.ts';

/** What is worth another attempt: no connection, one that was lost, or an upstream that says it is a passing state. */
export type Retryable = 'connect' | 'reset' | 'status';

/** What the place that throws knows beyond the row itself. */
export interface GatewayErrorFacts {
  /** Replaces the row's `detail`. Goes to callers: words of ours only, never an upstream's. */
  readonly detail?: string;
  /** Why, in words of ours, for the log only. Never text that came from outside. */
  readonly reason?: string | undefined;
  /** Name of the upstream that failed, as settings call it. */
  readonly upstream?: string;
  /** Seconds for `Retry-After`; replaces the row's own. */
  readonly retryAfterSeconds?: number;
  /** Status of the upstream's response, if there was one. */
  readonly upstreamStatus?: number;
  /** Methods of HTTP that the path takes, as `Allow` has them. */
  readonly allow?: string;
  /** Set where the upstream is to blame: not reached, broke off, too slow, or a 5xx. A breaker counts these alone. */
  readonly fault?: boolean;
  /**
   * Set where it was another server that failed, of which something was needed first: that says nothing of the upstream
   * that the error names, which was not asked.
   */
  readonly elsewhere?: boolean;
  /** What failed, where the same request may fare better a moment later. */
  readonly retryable?: Retryable;
  /** Every scope that was needed, where the caller lacks one of them. */
  readonly scopes?: readonly string[] | undefined;
  /** The header that the credential was in, where it is not `Authorization`: no other access token would mend it. */
  readonly header?: string | undefined;
  /** The bound that was met, by the key of its setting. Whoever records the error tells events of it. */
  readonly bound?: string | undefined;
  readonly cause?: unknown;
}

/** The one error class: what a caller is told is its `code`'s row, and nothing else that it carries. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  readonly status: number;
  /** Code of the JSON-RPC error. */
  readonly rpc: number;
  readonly title: string;
  readonly detail: string;
  readonly reason: string | undefined;
  readonly upstream: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly upstreamStatus: number | undefined;
  readonly allow: string | undefined;
  readonly fault: boolean;
  readonly elsewhere: boolean;
  readonly retryable: Retryable | undefined;
  readonly scopes: readonly string[] | undefined;
  readonly header: string | undefined;
  readonly bound: string | undefined;
  readonly #facts: GatewayErrorFacts;

  constructor(code: ErrorCode, facts: GatewayErrorFacts = {}) {
    const row: ErrorRow = ERRORS[code];
    super(facts.reason ?? row.title, { cause: facts.cause });
    this.code = code;
    this.status = row.status;
    this.rpc = row.rpc ?? INVALID_REQUEST;
    this.title = row.title;
    this.detail = facts.detail ?? row.detail;
    this.reason = facts.reason;
    this.upstream = facts.upstream;
    this.retryAfterSeconds = facts.retryAfterSeconds ?? row.retryAfterSeconds;
    this.upstreamStatus = facts.upstreamStatus;
    this.allow = facts.allow;
    this.fault = facts.fault ?? false;
    this.elsewhere = facts.elsewhere ?? false;
    this.retryable = facts.retryable;
    this.scopes = facts.scopes;
    this.header = facts.header;
    this.bound = facts.bound;
    this.#facts = facts;
  }

  /** The same error of a credential that was in another header than `Authorization`. */
  inHeader(header: string, detail: string): GatewayError {
    return new GatewayError(this.code, { ...this.#facts, header, detail });
  }

  /** The same error, naming the upstream that it came from. */
  from(upstream: string): GatewayError {
    return this.upstream === undefined ? new GatewayError(this.code, { ...this.#facts, upstream }) : this;
  }
}

const OF_CREDENTIAL: ReadonlySet<ErrorCode> = new Set([
  'credential_missing',
  'credential_malformed',
  'credential_rejected',
]);

/** Whether an error refuses what the caller brought as its credential. */
export function isOfCredential(error: GatewayError | undefined): boolean {
  return error !== undefined && OF_CREDENTIAL.has(error.code);
}
