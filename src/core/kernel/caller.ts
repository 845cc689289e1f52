import { inspect } from 'node:util';
import type { Span, TraceHeaders } from './span.ts';

/**
 * The token that a caller brought, the value of the field in which it came, or a secret of Portico's own. Opaque: every
 * inspector, logger and serializer sees `[credential]`; only
 * {@link Credential.reveal} gives the token, and only code that makes, sends or verifies credentials calls it.
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

/** What was verified of a caller. */
export interface Verified {
  /** Whom the token speaks for (`sub`); `undefined` where it names nobody. */
  readonly subject: string | undefined;
  /** Keyed hash of the issuer and the subject: the same for every token of one subject. */
  readonly subjectKey: string | undefined;
  /** Of the scopes that settings name, those that the token grants, also by others that imply them. */
  readonly scopes: ReadonlySet<string>;
}

/** Who asks. */
export interface Caller {
  readonly credential: Credential;
  /** The access token that came with it, where `credential` is one that came in another header. */
  readonly accessToken?: Credential | undefined;
  /** Keyed hash of the credential: names flights, entries of the negative cache, bulkhead places and log lines. Tells nothing of the token. */
  readonly key: string;
  /** Whose snapshots the caller may be served. Names snapshots, and nothing else. */
  readonly partition: string;
  /**
   * When the token ends by its own account, in milliseconds since the epoch. It may shorten what the caller is given, and
   * never lengthen it: it may not have been verified.
   */
  readonly expiresAt?: number | undefined;
  /** `undefined` where nobody verifies. */
  readonly verified?: Verified | undefined;
  /**
   * Where the request came from. Anybody can make up tokens, so callers of one address share bounds. `undefined` for a caller that
   * was verified, or that has no address.
   */
  readonly address?: string | undefined;
  /** What stood in the headers that settings name beside `Authorization`, by name in lower case: each of its lines. */
  readonly others?: ReadonlyMap<string, readonly Credential[]> | undefined;
  readonly requestId: string;
  /** Present when the caller's request belonged to a trace. */
  readonly trace?: TraceHeaders | undefined;
  /** What is done for this read at the moment; `undefined` where its trace is not sampled. */
  readonly span?: Span | undefined;
}

/** The same caller, for whom a span has begun: what is done next begins below it. */
export function under<T extends Pick<Caller, 'span' | 'trace'>>(caller: T, span: Span | undefined): T {
  return span === undefined ? caller : { ...caller, span, trace: span.headers };
}

/** Whose requests these are, where they are counted: the subject's where one was verified, else the token's. */
export function countedAs({ key, verified }: Pick<Caller, 'key' | 'verified'>): string {
  return verified?.subjectKey ?? key;
}
