import type { ClientRecord, RequestRecord, RequestRef } from '../kernel/caller.ts';
import { causesOf, GatewayError, nameError } from '../kernel/errors.ts';
import type { Events } from '../kernel/events.ts';
import { escapeHidden, JsonFields, type Level, type Logger, takesJson } from './logger.ts';

/** Routes of probes, which come every few seconds. */
const PROBES: ReadonlySet<string | undefined> = new Set(['/livez', '/readyz']);
/** Distinguishes callers, and is too short to be a key. */
const CALLER_LENGTH = 12;
/** Kinds of requests whose fields are kept serialized. */
const MAX_KINDS = 256;

/**
 * Logs events: one line for each request, and lines for all else that an operator needs. A line has no place for a
 * URL or a body, and of headers only for the request's ids and the name of a client of MCP.
 *
 * A line below the logger's level is not built, unless `loggerFor` returns a logger for its request.
 */
export function logEvents(
  logger: Logger,
  { loggerFor = () => undefined, now = () => performance.now() }: LogOptions = {},
): Events {
  const loggerAt: LoggerAt = (request, level) =>
    (logger.isLevelEnabled?.(level) ?? true) ? logger : loggerFor(request);
  const writeRequest = createRequestLines();
  return {
    requestEnded(request) {
      const level = levelOf(request);
      const to = loggerAt(request, level);
      if (to !== undefined) writeRequest(to, level, request);
    },
    ...details(loggerAt),
    ...progress(logger),
    ...warnings(logger, now),
    ...errors(logger, loggerAt),
  };
}

export interface LogOptions {
  /** Returns where lines of a request are written that are below the logger's level. @default nowhere */
  readonly loggerFor?: ((request: Partial<RequestRef>) => Logger | undefined) | undefined;
  /** In milliseconds, from any point in time. */
  readonly now?: () => number;
}

/** A kind of request, and the child logger that writes its lines. */
interface Kind {
  readonly fields: ReturnType<typeof kindOf>;
  readonly child: Logger;
  readonly takesJson: boolean;
}

/**
 * Writes the line of a request. Nearly all requests are of a few kinds: what those of a kind have in common is serialized once,
 * as the bindings of a child logger.
 */
function createRequestLines() {
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

  return (to: Logger, level: Level, request: RequestRecord): void => {
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
  let json = `"ms":${rounded(ms)}`;
  if (upstreamMs !== undefined) json += `,"upstreamMs":${rounded(upstreamMs)}`;
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
function whyOf(error: GatewayError) {
  const { upstream, reason, cause } = error;
  return { upstream, reason, causes: cause === undefined ? undefined : causesOf(error) };
}

/** Rounds to a tenth of a millisecond. */
function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** Returns where a line of this level about this request goes, if it is written. */
type LoggerAt = (request: Partial<RequestRef>, level: Level) => Logger | undefined;

/** `error` for a bug, `warn` for a failure of the platform or the settings. */
function levelOf({ route, error, staleFor }: RequestRecord): Level {
  if (error?.code === 'internal') return 'error';
  if (PROBES.has(route)) return 'debug';
  return staleFor !== undefined || isServerError(error) ? 'warn' : 'info';
}

function isServerError(error: GatewayError | undefined): boolean {
  return error !== undefined && error.status >= 500;
}

function details(loggerAt: LoggerAt): Events {
  const at = (request: Partial<RequestRef>) => loggerAt(request, 'debug');
  return {
    pageFetched: (fetched) => at(fetched)?.debug({ ...fetched, ms: rounded(fetched.ms) }, 'page fetched'),
    retried: (retry) => at(retry)?.debug({ ...retry, delayMs: rounded(retry.delayMs) }, 'retry'),
    flightJoined: (joined) => at(joined)?.debug(joined, 'flight joined'),
    tokenExchanged: (exchanged) => at(exchanged)?.debug({ ...exchanged, ms: rounded(exchanged.ms) }, 'token exchanged'),
    limitReached: (reached) => at(reached)?.debug(reached, 'limit reached'),
    callRefused: (refused) => at(refused)?.debug(refused, 'call refused'),
    credentialVerified: (judged) => at({})?.debug({ ...judged, ms: rounded(judged.ms) }, 'token verified'),
    snapshotEvicted: (evicted) => at(evicted)?.debug(evicted, 'snapshot evicted'),
  };
}

function progress(logger: Logger): Events {
  return {
    handshakeFailed: (failed) => logger.debug(failed, 'handshake failed'),
    listening: (listening) => logger.info(listening, 'listening'),
    settingsChanged: (changes) => logger[changes.needRestart.length > 0 ? 'warn' : 'info'](changes, 'settings changed'),
    draining: (draining) => logger.info(draining, 'draining'),
  };
}

/** Time in which the same warning about a resource, or about dropped spans, is logged once. */
const REPEAT_MS = 60_000;

/** Events that are logged at `warn` at most. */
function warnings(logger: Logger, now: () => number): Events {
  const loggedAt = new Map<string, number>();
  let droppedSpans = 0;
  /** Whether to log this now. */
  const isDue = (what: string) => {
    const time = now();
    if (time - (loggedAt.get(what) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS) return false;
    loggedAt.set(what, time);
    return true;
  };
  return {
    spansDropped({ spans, reason, cause }) {
      droppedSpans += spans;
      if (!isDue('spans')) return;
      logger.warn({ spans: droppedSpans, reason, cause }, 'spans dropped');
      droppedSpans = 0;
    },
    mappingWarning({ isRepeated = false, ...warning }) {
      const { resource, finding, field } = warning;
      if (!isRepeated && isDue(`${resource} ${finding} ${field}`)) logger.warn(warning, 'mapping warning');
    },
    breakerChanged: ({ opening: _opening, ...changed }) =>
      logger[changed.state === 'open' ? 'warn' : 'info'](changed, 'breaker'),
    listLoaded({ resource, upstream, items, dropped }) {
      if (dropped > 0) logger.warn({ resource, upstream, items, dropped }, 'items dropped');
    },
    secretChanged: (changed) =>
      changed.issue === undefined
        ? logger.info(changed, 'secret reloaded')
        : logger.warn(changed, 'secret file unusable'),
    tlsFilesChanged: (changed) =>
      changed.issue === undefined
        ? logger.info(changed, 'certificates reloaded')
        : logger.warn(changed, 'certificate files unusable'),
    issuerKeysFetched: ({ keys, error }) =>
      error === undefined
        ? logger.info({ keys }, 'issuer keys fetched')
        : logger.warn(whyOf(error), 'issuer keys not fetched'),
    sharedStoreChanged: ({ isUp, why, error }) =>
      isUp ? logger.info('Redis connected') : logger.warn({ error, reason: why }, 'Redis unavailable'),
    sharedCommandEnded({ command, reason }) {
      if (reason === 'full' && isDue('Redis is full')) logger.warn({ command, reason }, 'Redis refuses commands');
    },
    unsolicitedResponse: (unsolicited) => logger.warn(unsolicited, 'unsolicited upstream response'),
    connectionsCapped: (capped) => logger.warn(capped, 'connections capped by the limit of open files'),
    connectionsRefused: (refused) => logger.warn(refused, 'connections refused'),
    drained({ whole }) {
      if (whole) logger.info('drained');
      else logger.warn('drained in part: requests were cut off after shutdown.graceMs');
    },
  };
}

/** Events that are logged at `error` at most. */
function errors(logger: Logger, loggerAt: LoggerAt): Events {
  return {
    internalError: (bug) => logger.error(bug, 'internal error'),
    listenerFailed: ({ error }) => logger.error({ error: nameError(error) }, 'listener error'),
    refreshFailed({ resource, error, requestId, traceId }) {
      const request = { requestId, traceId };
      if (error instanceof GatewayError) {
        const level = error.code === 'internal' ? 'error' : isServerError(error) ? 'warn' : 'info';
        const line = { resource, outcome: error.code, ...whyOf(error), ...request };
        loggerAt(request, level)?.[level](line, 'refresh failed');
      } else {
        const name = error instanceof Error ? nameError(error) : typeof error;
        logger.error({ resource, outcome: 'internal', error: name, ...request }, 'refresh failed');
      }
    },
  };
}
