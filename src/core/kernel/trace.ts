import { randomBytes } from 'node:crypto';
import { codeOf } from './errors.ts';

export interface TraceHeaders {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** A caller's trace. */
export interface Trace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** The caller's span: 16 hexadecimal digits. */
  readonly parentId: string;
  readonly isSampled: boolean;
  readonly headers: TraceHeaders;
}

/** W3C Trace Context, sections 3.2.2 and 3.2.4: an unknown version is parsed like version 00. */
const TRACEPARENT =
  /^(?!ff)(?<version>[0-9a-f]{2})-(?!0{32})(?<traceId>[0-9a-f]{32})-(?!0{16})(?<parentId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?<rest>-.*)?$/;

/** Defined flags: sampled (1), random trace id (2). All others are forwarded as zero. */
const KNOWN_FLAGS = 3;
const SAMPLED = 1;

const MAX_TRACESTATE_LENGTH = 512;
const PRINTABLE = /^[\x20-\x7e]+$/;

/** Returns the trace with a new parent id. A printable `tracestate` of at most 512 characters is forwarded. */
export function continueTrace(traceparent: string | undefined, tracestate: string | undefined): Trace | undefined {
  if (traceparent === undefined) return undefined;
  const { version, traceId, parentId, flags, rest } = TRACEPARENT.exec(traceparent)?.groups ?? {};
  if (traceId === undefined || parentId === undefined || flags === undefined) return undefined;
  if (version === '00' && rest !== undefined) return undefined;
  const known = Number.parseInt(flags, 16) & KNOWN_FLAGS;
  const own = `00-${traceId}-${randomBytes(8).toString('hex')}-${known.toString(16).padStart(2, '0')}`;
  return {
    ...{ traceId, parentId, isSampled: (known & SAMPLED) !== 0 },
    headers: isForwardable(tracestate) ? { traceparent: own, tracestate } : { traceparent: own },
  };
}

function isForwardable(tracestate: string | undefined): tracestate is string {
  return tracestate !== undefined && tracestate.length <= MAX_TRACESTATE_LENGTH && PRINTABLE.test(tracestate);
}

/** Kinds of spans. `look`: a lookup in the shared cache. `page`: with all its waits. `call`: one request to an upstream. */
export type SpanAbout = 'request' | 'operation' | 'read' | 'refresh' | 'load' | 'look' | 'page' | 'call' | 'verify';

/** Numbers, texts of settings and closed lists, and the request id. A caller's text has no place here. */
export interface SpanFacts {
  readonly method?: string | undefined;
  readonly route?: string | undefined;
  readonly scheme?: 'http' | 'https' | undefined;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly outcome?: string | undefined;
  /** Reason for a failure; it alone marks a span as failed, except `cancelled`. */
  readonly error?: string | undefined;
  /** Code of the error table, if `error` is another. */
  readonly code?: string | undefined;
  readonly rpc?: string | undefined;
  readonly tool?: string | undefined;
  readonly uri?: string | undefined;
  readonly rpcCode?: number | undefined;
  readonly revision?: string | undefined;
  readonly edge?: 'http' | 'stdio' | undefined;
  readonly resource?: string | undefined;
  readonly cache?: string | undefined;
  readonly shared?: string | undefined;
  readonly pages?: number | undefined;
  readonly items?: number | undefined;
  readonly dropped?: number | undefined;
  readonly upstream?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly url?: string | undefined;
  readonly resends?: number | undefined;
}

/** An open span of a trace that is exported. Its creator ends it. */
export interface Span {
  readonly traceId: string;
  readonly headers: TraceHeaders;
  begin(about: SpanAbout, facts?: SpanFacts): Span;
  link(other: Span): void;
  /** Later calls have no effect. */
  end(facts?: SpanFacts): void;
}

/** Ends the span with the work. `signal` is the waiting caller's. */
export async function during<T>(
  span: Span | undefined,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
  factsOf?: (result: T) => SpanFacts,
): Promise<T> {
  if (span === undefined) return work();
  try {
    const result = await work();
    span.end(factsOf?.(result));
    return result;
  } catch (error) {
    span.end({ error: codeOf(error, signal) });
    throw error;
  }
}
