import { pino } from 'pino';
import type { RequestRecord } from '../kernel/caller.ts';
import { causesOf, type GatewayError } from '../kernel/errors.ts';
import { type LogDestination, standardOutput } from './destination.ts';
import { escapeHidden, prettyDestination } from './pretty.ts';

export type Level = 'debug' | 'info' | 'warn' | 'error' | 'fatal';

export interface WriteLine {
  (fields: object, message: string): void;
  (message: string): void;
}

/** Writes one JSON object a line. Nothing that came from outside is written as free text. Any pino logger fits. */
export interface Logger extends Readonly<Record<Level, WriteLine>> {
  /** @default all levels are written */
  isLevelEnabled?(level: Level): boolean;
  level?: string;
  /** Returns a logger to the same place, with its own level and these fields on each line. */
  child?(fields: object, options: { readonly level: string }): Logger;
}

export interface LoggerOptions {
  readonly level: Exclude<Level, 'fatal'> | 'silent';
  /** For a program or for a person; `auto`: for a person where lines go to a terminal. @default json */
  readonly format?: 'auto' | 'json' | 'pretty';
  readonly destination?: LogDestination;
}

/** After a `fatal` line, and when the process ends, all lines are written out at once. */
export function createLogger({ level, format = 'json', destination = standardOutput() }: LoggerOptions): Logger {
  const isPretty = format === 'pretty' || (format === 'auto' && destination.terminal !== undefined);
  return pino(
    {
      level,
      base: null,
      timestamp: createTimestamp(),
      formatters: { level: (name) => ({ level: name }) },
    },
    isPretty
      ? prettyDestination(destination)
      : { ...destination, write: (line: string) => destination.write(escapeHidden(line)) },
  );
}

/** Returns the time as ISO 8601. To format one takes as long as half a line: lines of one millisecond share it. */
function createTimestamp(): () => string {
  let last = 0;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== last) text = `,"time":"${new Date(now).toISOString()}"`;
    last = now;
    return text;
  };
}

/** Routes of probes, which come every few seconds. */
const PROBES: ReadonlySet<string | undefined> = new Set(['/livez', '/readyz']);
/** Distinguishes callers, and is too short to be a key. */
const CALLER_LENGTH = 12;

/** Writes the line of a request. */
export function logRequest(logger: Logger, request: RequestRecord): void {
  const { method, route, rpc, tool, resource, status, outcome, cache, staleFor, upstreamMs, bytes } = request;
  const { callerKey, client, requestId, traceId, error = staleFor } = request;
  const why = error && whyOf(error);
  // Written out: to spread objects takes longer than the rest.
  const fields = {
    method,
    route,
    rpc,
    tool,
    resource,
    status,
    outcome,
    cache,
    staleFor: staleFor?.code,
    ms: rounded(request.ms),
    upstreamMs: upstreamMs === undefined ? undefined : rounded(upstreamMs),
    bytes,
    caller: callerKey?.slice(0, CALLER_LENGTH),
    client,
    requestId,
    traceId,
    upstream: why?.upstream,
    reason: why === undefined ? UNANSWERED[outcome] : why.reason,
    causes: why?.causes,
  };
  logger[levelOf(request)](fields, 'request');
}

/** Reasons for no response, by the outcome, where there is no error. */
const UNANSWERED: Readonly<Record<string, string>> = {
  caller_gone: 'the client closed the connection before the response was sent',
  cancelled: 'the client cancelled the request',
  response_unread: 'http.maxUnsentBytes is reached',
  overloaded: 'http.maxPipelinedWaiting is reached',
  draining: 'shutdown.graceMs is over',
  cut: 'the connection ended before the response was sent',
};

/** Returns what is known of an error, without its message: that can be an upstream's. */
export function whyOf(error: GatewayError) {
  const { upstream, reason, cause } = error;
  return { upstream, reason, causes: cause === undefined ? undefined : causesOf(error) };
}

export function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** `error` for a bug, `warn` for a failure of the platform or the settings. */
function levelOf({ route, error, staleFor }: RequestRecord): Level {
  if (error?.code === 'internal') return 'error';
  if (PROBES.has(route)) return 'debug';
  return staleFor !== undefined || isServerError(error) ? 'warn' : 'info';
}

export function isServerError(error: GatewayError | undefined): boolean {
  return error !== undefined && error.status >= 500;
}
