import { GatewayError, nameError } from '../kernel/errors.ts';
import type { Events } from '../kernel/events.ts';
import { isServerError, type Logger, logRequest, rounded, whyOf } from './logger.ts';

/** A line has no place for a URL or a body, and of headers only for the request's ids and the name of a client of MCP. */
export function logEvents(
  logger: Logger,
  { now = () => performance.now() }: { readonly now?: () => number } = {},
): Events {
  return {
    requestEnded: (request) => logRequest(logger, request),
    ...details(logger),
    ...progress(logger),
    ...warnings(logger, now),
    ...errors(logger),
  };
}

function details(logger: Logger): Events {
  return {
    pageFetched: (fetched) => logger.debug({ ...fetched, ms: rounded(fetched.ms) }, 'page fetched'),
    retried: (retry) => logger.debug({ ...retry, delayMs: rounded(retry.delayMs) }, 'retry'),
    flightJoined: (joined) => logger.debug(joined, 'flight joined'),
    tokenExchanged: (exchanged) => logger.debug({ ...exchanged, ms: rounded(exchanged.ms) }, 'token exchanged'),
    limitReached: (reached) => logger.debug(reached, 'limit reached'),
    callRefused: (refused) => logger.debug(refused, 'call refused'),
    credentialVerified: (judged) => logger.debug({ ...judged, ms: rounded(judged.ms) }, 'token verified'),
    snapshotEvicted: (evicted) => logger.debug(evicted, 'snapshot evicted'),
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

/** Time in which the same warning is logged once. */
const REPEAT_MS = 60_000;

function warnings(logger: Logger, now: () => number): Events {
  const loggedAt = new Map<string, number>();
  let droppedSpans = 0;
  const isDue = (what: string) => {
    const time = now();
    if (time - (loggedAt.get(what) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS) return false;
    loggedAt.set(what, time);
    return true;
  };
  return {
    spansDropped({ spans, cause }) {
      droppedSpans += spans;
      if (!isDue('spans')) return;
      logger.warn({ spans: droppedSpans, cause }, 'spans dropped');
      droppedSpans = 0;
    },
    mappingWarning(warning) {
      const { resource, finding, field } = warning;
      if (isDue(`${resource} ${finding} ${field}`)) logger.warn(warning, 'mapping warning');
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
    sharedStoreChanged: ({ isUp, why }) =>
      isUp ? logger.info('Redis connected') : logger.warn({ reason: why }, 'Redis unavailable'),
    sharedCommandEnded({ command, outcome }) {
      if (outcome === 'full' && isDue('Redis is full')) logger.warn({ command, outcome }, 'Redis refuses commands');
    },
    connectionsCapped: (capped) => logger.warn(capped, 'connections capped by the limit of open files'),
    connectionsRefused: (refused) => logger.warn(refused, 'connections refused'),
    drained({ whole }) {
      if (whole) logger.info('drained');
      else logger.warn('drained in part: requests were cut off after shutdown.graceMs');
    },
  };
}

function errors(logger: Logger): Events {
  return {
    internalError: (bug) => logger.error(bug, 'internal error'),
    listenerFailed: ({ error }) => logger.error({ error: nameError(error) }, 'listener error'),
    refreshFailed({ resource, error, requestId, traceId }) {
      const request = { requestId, traceId };
      if (error instanceof GatewayError) {
        const level = error.code === 'internal' ? 'error' : isServerError(error) ? 'warn' : 'info';
        const line = { resource, outcome: error.code, ...whyOf(error), ...request };
        logger[level](line, 'refresh failed');
      } else {
        const name = error instanceof Error ? nameError(error) : typeof error;
        logger.error({ resource, outcome: 'internal', error: name, ...request }, 'refresh failed');
      }
    },
  };
}
