import { randomBytes } from 'node:crypto';

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

export type SpanKind = 'INTERNAL' | 'SERVER' | 'CLIENT';

/**
 * Attributes by OpenTelemetry's names; none for `undefined`. Values are numbers, texts of settings and closed lists, and the request
 * id. A caller's text has no place here.
 */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** An open span of a trace that is exported. Its creator ends it. */
export interface Span {
  readonly traceId: string;
  readonly headers: TraceHeaders;
  begin(name: string, attributes?: Attributes, kind?: SpanKind): Span;
  link(other: Span): void;
  /** `error.type` marks the span as failed, except for `cancelled` and `caller_gone`. `name` replaces its name. */
  end(attributes?: Attributes, name?: string): void;
}
