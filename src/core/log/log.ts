import type { Verbosity } from '../../capabilities/log-verbosity/verbosity.ts';
import { nameError } from '../kernel/causes.ts';
import { GatewayError } from '../kernel/errors.ts';
import type { Events } from '../kernel/events.ts';
import type { RequestRecord, RequestRef } from '../kernel/request-record.ts';
import type { Level, Logger } from './logger.ts';
import { createRequestLines, rounded, whyOf } from './request-lines.ts';

/** Probes come every few seconds as long as the process lives. */
const PROBES: ReadonlySet<string | undefined> = new Set(['/livez', '/readyz']);

/**
 * The log, as a listener: a line for each request, and for whatever else an operator wants to know. There is no place in
 * a line for a URL, a header value or a body.
 *
 * A line that the logger's level leaves out is not made, unless `verbosity` names its request.
 */
export function logEvents(logger: Logger, { verbosity, now = () => performance.now() }: LogOptions = {}): Events {
  const loggerFor: LoggerFor = (request, level) => {
    const to = verbosity?.loggerFor(request) ?? logger;
    return (to.isLevelEnabled?.(level) ?? true) ? to : undefined;
  };
  const writeRequest = createRequestLines();
  return {
    requestEnded(request) {
      const level = levelOf(request);
      const to = loggerFor(request, level);
      if (to !== undefined) writeRequest(to, level, request);
    },
    ...details(loggerFor),
    ...progress(logger),
    ...warnings(logger, now),
    ...errors(logger, loggerFor),
  };
}

export interface LogOptions {
  /** Whose requests are told in detail for now. @default nobody's */
  readonly verbosity?: Pick<Verbosity, 'loggerFor'> | undefined;
  /** In milliseconds, from whenever. */
  readonly now?: () => number;
}

/** Where a line of this level about this request goes, if it is written. */
type LoggerFor = (request: Partial<RequestRef>, level: Level) => Logger | undefined;

/** A bug is for whoever builds this, and what the platform or the settings spoil for whoever runs it. */
function levelOf({ route, error, staleFor }: RequestRecord): Level {
  if (error?.code === 'internal') return 'error';
  if (PROBES.has(route)) return 'debug';
  return staleFor !== undefined || isServerError(error) ? 'warn' : 'info';
}

function isServerError(error: GatewayError | undefined): boolean {
  return error !== undefined && error.status >= 500;
}

function details(loggerFor: LoggerFor): Events {
  const at = (request: Partial<RequestRef>) => loggerFor(request, 'debug');
  return {
    pageFetched: (fetched) => at(fetched)?.debug({ ...fetched, ms: rounded(fetched.ms) }, 'page fetched'),
    retried: (retry) => at(retry)?.debug({ ...retry, delayMs: rounded(retry.delayMs) }, 'retry'),
    flightJoined: (joined) => at(joined)?.debug(joined, 'flight joined'),
    tokenExchanged: (exchanged) => at(exchanged)?.debug({ ...exchanged, ms: rounded(exchanged.ms) }, 'token exchanged'),
    boundReached: (reached) => at(reached)?.debug(reached, 'bound reached'),
    callRefused: (refused) => at(refused)?.debug(refused, 'call refused'),
    credentialJudged: (judged) => at({})?.debug({ ...judged, ms: rounded(judged.ms) }, 'token verified'),
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

/** How long a finding of one resource is not told again: each read may have it. */
const FINDING_MS = 60_000;
/** How long it is not told again that spans are dropped. */
const DROPPED_MS = 60_000;

/** What is told at `warn` at its worst. */
function warnings(logger: Logger, now: () => number): Events {
  const toldAt = new Map<string, number>();
  let untoldSpans = 0;
  let droppedToldAt = Number.NEGATIVE_INFINITY;
  return {
    spansDropped({ spans, reason, cause }) {
      untoldSpans += spans;
      const time = now();
      if (time - droppedToldAt < DROPPED_MS) return;
      logger.warn({ spans: untoldSpans, reason, cause }, 'spans dropped');
      untoldSpans = 0;
      droppedToldAt = time;
    },
    mappingDoubted(doubted) {
      const { resource, finding, field } = doubted;
      const key = `${resource} ${finding} ${field}`;
      const time = now();
      if (time - (toldAt.get(key) ?? Number.NEGATIVE_INFINITY) < FINDING_MS) return;
      toldAt.set(key, time);
      logger.warn(doubted, 'mapping doubtful');
    },
    breakerChanged: ({ opening: _opening, ...changed }) =>
      logger[changed.state === 'open' ? 'warn' : 'info'](changed, 'breaker'),
    listLoaded({ resource, upstream, items, dropped }) {
      if (dropped > 0) logger.warn({ resource, upstream, items, dropped }, 'items dropped');
    },
    secretChanged: (changed) =>
      changed.issue === undefined
        ? logger.info(changed, 'secret taken from its file')
        : logger.warn(changed, 'secret file unusable'),
    tlsFilesChanged: (changed) =>
      changed.issue === undefined
        ? logger.info(changed, 'certificates taken from their files')
        : logger.warn(changed, 'certificate files unusable'),
    issuerKeysFetched: ({ keys, error }) =>
      error === undefined
        ? logger.info({ keys }, 'issuer keys fetched')
        : logger.warn(whyOf(error), 'issuer keys not fetched'),
    sharedStoreChanged: ({ isUp, why, error }) =>
      isUp ? logger.info('shared store there') : logger.warn({ error, reason: why }, 'shared store away'),
    unsolicitedResponse: (unsolicited) => logger.warn(unsolicited, 'unsolicited upstream response'),
    connectionsRefused: (refused) => logger.warn(refused, 'connections refused'),
    drained({ whole }) {
      if (whole) logger.info('drained');
      else logger.warn('drained in part: requests were cut off after shutdown.graceMs');
    },
  };
}

/** What is told at `error` at its worst. */
function errors(logger: Logger, loggerFor: LoggerFor): Events {
  return {
    internalError: (bug) => logger.error(bug, 'internal error'),
    listenerFailed: ({ error }) => logger.error({ error: nameError(error) }, 'listener error'),
    refreshFailed({ resource, error, requestId, traceId }) {
      const request = { requestId, traceId };
      if (error instanceof GatewayError) {
        const level = error.code === 'internal' ? 'error' : isServerError(error) ? 'warn' : 'info';
        const line = { resource, outcome: error.code, ...whyOf(error), ...request };
        loggerFor(request, level)?.[level](line, 'refresh failed');
      } else {
        const name = error instanceof Error ? nameError(error) : typeof error;
        logger.error({ resource, outcome: 'internal', error: name, ...request }, 'refresh failed');
      }
    },
  };
}
