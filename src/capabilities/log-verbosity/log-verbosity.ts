import { z } from 'zod';
import type { Exchange } from '../../core/http/exchange.ts';
import { type OpenOperation, openOperation, unstored } from '../../core/http/operations/operation.ts';
import { isLoopbackAddress, isLoopbackHost } from '../../core/http/request/hosts.ts';
import { createHeldBytes, readBody } from '../../core/http/request/incoming-body.ts';
import type { RequestRef } from '../../core/kernel/caller.ts';
import { explained, GatewayError } from '../../core/kernel/errors.ts';
import { parseJson } from '../../core/kernel/json-shape.ts';
import type { Logger } from '../../core/log/logger.ts';
import { defineCapability } from '../capability.ts';

/** Changes the level of the log for a while, by `PUT /log` of the admin listener. */
export const logVerbosity = defineCapability({
  open(_settings, { config, logger, isWorker = false }) {
    if (!config.admin.enabled || !isAdjustable(logger)) return undefined;
    const verbosity = createVerbosity(logger);
    return {
      loggerFor: verbosity.loggerFor,
      adminOperations: () => logOperations(async (change) => changed(verbosity, change), isWorker),
      onReload: ({ log: { level } }) => verbosity.setDefault(level),
      stop: async () => verbosity.stop(),
    };
  },
  acrossWorkers: (_config, { ask }) =>
    logOperations(async (change) => {
      const request = change && { method: 'PUT' as const, body: Buffer.from(JSON.stringify(change)) };
      const answers = await ask({ method: 'GET', path: '/log', ...request });
      const [state] = answers.flatMap(({ body = [] }) => body);
      if (state === undefined) throw new GatewayError('overloaded', { reason: 'no worker answered' });
      return state;
    }, false),
});

function isAdjustable(logger: Logger): logger is AdjustableLogger {
  return logger.level !== undefined && logger.child !== undefined;
}

const MAX_BODY_BYTES = 16_384;
const MAX_IDS = 16;

const LogChange = z.strictObject({
  // Lowest severity that is logged. Not silent: the log reports each change.
  level: z.enum(['debug', 'info', 'warn', 'error']).optional(),
  // Ids of requests whose lines are written at any level.
  requestIds: z
    .array(z.string().regex(/^[A-Za-z0-9._~:/+=@-]{1,128}$/))
    .max(MAX_IDS)
    .optional(),
  forMs: z.int().min(1000).max(86_400_000).default(600_000),
});

/** A temporary change of what is logged. What it omits is as in settings. */
type LogChange = z.output<typeof LogChange>;

const USAGE =
  'The body must be JSON such as {"level":"debug","requestIds":["…"],"forMs":600000}; omitted members are as in the settings.';

function changed(verbosity: Verbosity, change: LogChange | undefined): Buffer {
  if (change !== undefined) verbosity.change(change);
  return Buffer.from(`${JSON.stringify(verbosity.state())}\n`);
}

/** For clients on this machine only: elsewhere, the listener can be in reach of web pages. */
function logOperations(apply: (change?: LogChange) => Promise<Buffer>, isWorker: boolean): OpenOperation[] {
  const check = isWorker ? () => {} : requireLoopback;
  const held = createHeldBytes(MAX_BODY_BYTES * 16);
  const read = async (exchange: Exchange) => {
    check(exchange);
    return unstored(await apply());
  };
  const write = async (exchange: Exchange) => {
    check(exchange);
    const body = await readBody(exchange, { maxBytes: MAX_BODY_BYTES }, held);
    const { success, data } = LogChange.safeParse(parseJson(body.toString('utf8')));
    if (!success) throw explained('invalid_request', USAGE);
    return unstored(await apply(data));
  };
  return [openOperation('/log', read), openOperation('/log', write, { methods: ['PUT'], takesBody: true })];
}

function requireLoopback({ req, target, fields }: Exchange): void {
  const host = target?.authority ?? fields.host[0];
  const isLocal = isLoopbackAddress(req.socket.remoteAddress ?? '') && host !== undefined && isLoopbackHost(host);
  if (!isLocal) throw explained('access_denied', 'Use a loopback address.');
}

export type Verbosity = ReturnType<typeof createVerbosity>;

export interface AdjustableLogger extends Logger {
  level: string;
  child: NonNullable<Logger['child']>;
}

/** Changes the level of a logger for a limited time, so that no one must remember to reset it. */
export function createVerbosity(logger: AdjustableLogger, now = () => performance.now()) {
  let settingsLevel = logger.level;
  /** Writes to the same place at any level of `logger`. */
  const detailed = logger.child({}, { level: 'debug' });
  let current: Partial<LogChange> = {};
  let timer: NodeJS.Timeout | undefined;
  let until: number | undefined;

  function apply(change: Partial<LogChange>): void {
    clearTimeout(timer);
    until = undefined;
    current = change;
    logger.level = change.level ?? settingsLevel;
  }

  /** What is logged now. `remainingMs`: time until settings apply again; `undefined` where they do. */
  function state() {
    const { requestIds = [] } = current;
    const remainingMs = until === undefined ? undefined : Math.max(0, Math.round(until - now()));
    return { level: logger.level, requestIds, remainingMs };
  }

  return {
    loggerFor({ requestId = '' }: Partial<RequestRef>): Logger | undefined {
      return current.requestIds?.includes(requestId) ? detailed : undefined;
    },
    state,
    /** Replaces the last change. One line of the log reports it, whatever the level. */
    change({ forMs, ...change }: LogChange): void {
      apply(change);
      const { level: logLevel, requestIds } = state();
      if (logLevel !== settingsLevel || requestIds.length > 0) {
        until = now() + forMs;
        timer = setTimeout(() => {
          apply({});
          detailed.warn({ logLevel: settingsLevel }, 'log level restored from settings');
        }, forMs).unref();
      }
      detailed.warn({ logLevel, requestIds, remainingMs: state().remainingMs }, 'log level changed');
    },
    /** Sets the level to restore. The gateway sets that of the logger, unless it was changed here. */
    setDefault(level: string): void {
      settingsLevel = level;
    },
    stop: () => clearTimeout(timer),
  };
}
