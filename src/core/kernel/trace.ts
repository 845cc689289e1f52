import { randomBytes } from 'node:crypto';
import type { Caller } from './caller.ts';
import type { RequestRef } from './request-record.ts';
import type { TraceHeaders } from './span.ts';

/** A caller's trace. */
export interface Trace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** The caller's span: 16 hexadecimal digits. */
  readonly parentId: string;
  /** Whether the caller samples the trace. */
  readonly isSampled: boolean;
  /** Headers for upstream requests. */
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

/**
 * Returns the trace of a request's `traceparent` with a new parent id, or `undefined` if invalid. `tracestate` is
 * forwarded unchanged if it is printable, at most 512 characters long, and `traceparent` is valid.
 */
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

/** Returns the request of a caller, for events. */
export function requestOf({ requestId, trace }: Pick<Caller, 'requestId' | 'trace'>): RequestRef {
  return trace === undefined ? { requestId } : { requestId, traceId: trace.traceparent.slice(3, 35) };
}

function isForwardable(tracestate: string | undefined): tracestate is string {
  return tracestate !== undefined && tracestate.length <= MAX_TRACESTATE_LENGTH && PRINTABLE.test(tracestate);
}
