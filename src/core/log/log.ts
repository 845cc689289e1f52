import { GatewayError, nameError } from '../kernel/errors.ts';
import type { Events } from '../kernel/events.ts';
import { isServerError, type Level, type Logger, logRequest, rounded, whyOf } from './logger.ts';

/** A line has no place for a URL or a body, and of headers only for the request's ids and the name of a client of MCP. */
export function logEvents(
  logger: Logger,
  { now = () => performance.now() }: { readonly now?: () => number } = {},
): Events {
  return {
    requestEnded: (request) => logRequest(logger, request),
    ...plainLines(logger),
    settingsChanged: (changes) => logger[changes.needRestart.length > 0 ? 'warn' : 'info'](changes, 'settings changed'),
    ...warnings(logger, now),
    ...errors(logger),
  };
}

/** Events whose line has their own facts. */
const LINES = {
  pageFetched: ['debug', 'page fetched'],
  retried: ['debug', 'retry'],
  flightJoined: ['debug', 'flight joined'],
  limitReached: ['debug', 'limit reached'],
  callRefused: ['debug', 'call refused'],
  credentialVerified: ['debug', 'token verified'],
  snapshotEvicted: ['debug', 'snapshot evicted'],
  handshakeFailed: ['debug', 'handshake failed'],
  listening: ['info', 'listening'],
  draining: ['info', 'draining'],
  connectionsCapped: ['warn', 'connections capped by the limit of open files'],
  connectionsRefused: ['warn', 'connections refused'],
  internalError: ['error', 'internal error'],
} as const satisfies { readonly [Name in keyof Events]?: readonly [Level, message: string] };

function plainLines(logger: Logger): Events {
  const lines = Object.entries(LINES).map(([name, [level, message]]) => {
    const write = (facts: object) => logger[level](roundTimes(facts), message);
    return [name, write];
  });
  return Object.fromEntries(lines);
}

function roundTimes(facts: { readonly ms?: number; readonly delayMs?: number }): object {
  const { ms, delayMs } = facts;
  return {
    ...facts,
    ...(ms !== undefined && { ms: rounded(ms) }),
    ...(delayMs !== undefined && { delayMs: rounded(delayMs) }),
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
    breakerChanged: ({ instanceId: _, ...changed }) =>
      logger[changed.state === 'open' ? 'warn' : 'info'](changed, 'breaker'),
    listLoaded({ resource, upstream, items, dropped }) {
      if (dropped > 0) logger.warn({ resource, upstream, items, dropped }, 'items dropped');
    },
    filesChanged: (changed) =>
      changed.issue === undefined ? logger.info(changed, 'files reloaded') : logger.warn(changed, 'file unusable'),
    issuerKeysFetched: ({ keys, error }) =>
      error === undefined
        ? logger.info({ keys }, 'issuer keys fetched')
        : logger.warn(whyOf(error), 'issuer keys not fetched'),
    sharedStoreChanged: ({ isUp, why }) =>
      isUp ? logger.info('Redis connected') : logger.warn({ reason: why }, 'Redis unavailable'),
    sharedCommandEnded({ command, outcome }) {
      if (outcome === 'full' && isDue('Redis is full')) logger.warn({ command, outcome }, 'Redis refuses commands');
    },
    drained({ whole }) {
      if (whole) logger.info('drained');
      else logger.warn('drained in part: requests were cut off after shutdown.graceMs');
    },
  };
}

function errors(logger: Logger): Events {
  return {
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
