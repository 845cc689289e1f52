import { pino } from 'pino';
import type { ClientRecord, RequestRecord, RequestRef } from '../kernel/caller.ts';
import { causesOf, type GatewayError } from '../kernel/errors.ts';
import { type LogDestination, prettyDestination, standardOutput } from './destination.ts';

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

/** Fields of a line that are serialized, and need none of what `escapeHidden` does: `"ms":0.1,"bytes":2`. */
class JsonFields {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }
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
  const logger = pino(
    {
      level,
      base: null,
      timestamp: createTimeField(),
      formatters: { level: (name) => ({ level: name }) },
    },
    isPretty ? prettyDestination(destination) : destination,
  );
  return Object.assign(logger, { [pino.symbols.asJsonSym]: serialize });
}

/** What pino has serialized before: levels by their numbers, and the fields of a child logger. */
interface Serialized {
  readonly [pino.symbols.lsCacheSym]: Readonly<Record<number, string>>;
  readonly [pino.symbols.chindingsSym]: string;
}

/** Serializes a line. pino's own function serializes each name and value by itself, which takes twice the time. */
function serialize(this: Serialized, fields: object, message: string, level: number, time: string): string {
  const start = `${this[pino.symbols.lsCacheSym][level]}${time}${this[pino.symbols.chindingsSym]}`;
  if (fields instanceof JsonFields) return `${start},${fields.json},"msg":"${message}"}\n`;
  const own = JSON.stringify(fields).slice(1, -1);
  return escapeHidden(`${start}${own === '' ? '' : ','}${own},"msg":${JSON.stringify(message)}}\n`);
}

/** Whether the fields of a logger's lines may be `JsonFields`. */
function takesJson(logger: object): boolean {
  return (logger as { [pino.symbols.asJsonSym]?: unknown })[pino.symbols.asJsonSym] === serialize;
}

/** The ends of times: V8 takes 400 instructions to write a number that it has not written a moment ago. */
const MILLISECONDS = Array.from({ length: 1000 }, (_, ms) => `.${String(ms).padStart(3, '0')}Z"`);

/** Writes pino's field of the time. All but the milliseconds is kept for a second. */
function createTimeField(): () => string {
  let second = -1;
  let start = '';
  return () => {
    const now = Date.now();
    const current = Math.floor(now / 1000);
    if (current !== second) {
      second = current;
      start = `,"time":"${new Date(now).toISOString().slice(0, -'.000Z'.length)}`;
    }
    // A clock of a test may have fractions.
    return start + MILLISECONDS[Math.floor(now - 1000 * second)];
  };
}

/** DEL, C1 controls, line and paragraph separators, and format characters: bidi controls, zero-width and tag characters. */
const HIDDEN = /[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Escapes them in a line of JSON as `\u202e` (RFC 8259, section 7): it parses to the same value. JSON escapes C0 controls itself. */
export function escapeHidden(line: string): string {
  // Nearly all lines are ASCII, which takes a quarter of the time to see.
  if (Buffer.byteLength(line) === line.length && !line.includes('\x7f')) return line;
  return line.replace(HIDDEN, (character) =>
    character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

/** Returns where a line of this level about this request goes, if it is written. */
export type LoggerAt = (request: Partial<RequestRef>, level: Level) => Logger | undefined;

export function createLoggerAt(logger: Logger): LoggerAt {
  return (_request, level) => ((logger.isLevelEnabled?.(level) ?? true) ? logger : undefined);
}

/** Routes of probes, which come every few seconds. */
const PROBES: ReadonlySet<string | undefined> = new Set(['/livez', '/readyz']);
/** Distinguishes callers, and is too short to be a key. */
const CALLER_LENGTH = 12;
/** Kinds of requests whose fields are kept serialized. */
const MAX_KINDS = 256;

interface Kind {
  readonly fields: ReturnType<typeof kindOf>;
  readonly child: Logger;
  readonly takesJson: boolean;
}

/** Nearly all requests are of a few kinds: what those have in common is serialized once, as the bindings of a child logger. */
export function createRequestLines(loggerAt: LoggerAt): (request: RequestRecord) => void {
  const kinds = new WeakMap<Logger, Kind[]>();

  function kindIn(logger: Logger, request: RequestRecord): Kind | undefined {
    const known = kinds.get(logger) ?? [];
    for (const kind of known) if (isOfKind(request, kind)) return kind;
    const fields = kindOf(request);
    const child = logger.child?.(fields, { level: 'debug' });
    if (child === undefined) return undefined;
    const kind = { fields, child, takesJson: takesJson(child) };
    if (known.length < MAX_KINDS) kinds.set(logger, [...known, kind]);
    return kind;
  }

  return (request) => {
    const level = levelOf(request);
    const to = loggerAt(request, level);
    if (to === undefined) return;
    const kind = kindIn(to, request);
    if (kind === undefined) to[level]({ ...kindOf(request), ...ownFieldsOf(request) }, 'request');
    else kind.child[level](kind.takesJson ? ownJsonOf(request) : ownFieldsOf(request), 'request');
  };
}

function isOfKind(request: RequestRecord, { fields: kind }: Kind): boolean {
  return (
    request.resource === kind.resource &&
    request.cache === kind.cache &&
    request.status === kind.status &&
    request.outcome === kind.outcome &&
    request.route === kind.route &&
    request.method === kind.method &&
    request.rpc === kind.rpc &&
    request.tool === kind.tool &&
    request.staleFor?.code === kind.staleFor
  );
}

/** Fields that many requests share. Their values are of closed lists. */
function kindOf({ method, route, rpc, tool, resource, status, outcome, cache, staleFor }: RequestRecord) {
  return { method, route, rpc, tool, resource, status, outcome, cache, staleFor: staleFor?.code };
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

function ownFieldsOf(request: RequestRecord): object {
  const { upstreamMs, outcome, staleFor, error = staleFor } = request;
  return {
    ms: rounded(request.ms),
    upstreamMs: upstreamMs === undefined ? undefined : rounded(upstreamMs),
    bytes: request.bytes,
    caller: request.callerKey?.slice(0, CALLER_LENGTH),
    client: request.client,
    requestId: request.requestId,
    traceId: request.traceId,
    ...(error === undefined ? { reason: UNANSWERED[outcome] } : whyOf(error)),
  };
}

/** The same, serialized: of the usual request without `JSON.stringify`, since its texts need no escaping. */
function ownJsonOf(request: RequestRecord): object {
  const { ms, upstreamMs, outcome, staleFor, error = staleFor, bytes, callerKey, client, requestId, traceId } = request;
  if (error !== undefined || UNANSWERED[outcome] !== undefined) return ownFieldsOf(request);
  let json = `"ms":${roundedText(ms)}`;
  if (upstreamMs !== undefined) json += `,"upstreamMs":${roundedText(upstreamMs)}`;
  json += `,"bytes":${bytes}`;
  if (callerKey !== undefined) json += `,"caller":"${callerKey.slice(0, CALLER_LENGTH)}"`;
  if (client !== undefined) json += `,"client":${jsonOf(client)}`;
  json += `,"requestId":"${requestId}"`;
  if (traceId !== undefined) json += `,"traceId":"${traceId}"`;
  return new JsonFields(json);
}

/** Clients as JSON. Requests of one client share its record. */
const CLIENTS = new WeakMap<ClientRecord, string>();

function jsonOf(client: ClientRecord): string {
  const known = CLIENTS.get(client);
  if (known !== undefined) return known;
  const json = escapeHidden(JSON.stringify(client));
  CLIENTS.set(client, json);
  return json;
}

/** Returns what is known of an error, without its message: that can be an upstream's. */
export function whyOf(error: GatewayError) {
  const { upstream, reason, cause } = error;
  return { upstream, reason, causes: cause === undefined ? undefined : causesOf(error) };
}

export function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** The times of nearly all cached reads. */
const TENTHS = Array.from({ length: 100 }, (_, tenths) => String(tenths / 10));

function roundedText(ms: number): string {
  return TENTHS[Math.round(ms * 10)] ?? String(rounded(ms));
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
