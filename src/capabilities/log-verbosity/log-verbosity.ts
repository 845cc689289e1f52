import { z } from 'zod';
import type { Exchange } from '../../core/http/exchange.ts';
import type { OpenOperation } from '../../core/http/operations/operation.ts';
import { isLoopbackAddress, isLoopbackHost } from '../../core/http/request/hosts.ts';
import { createHeldBytes, readBody } from '../../core/http/request/incoming-body.ts';
import type { HttpResponse } from '../../core/http/response/send.ts';
import { explained, GatewayError } from '../../core/kernel/errors.ts';
import type { Logger } from '../../core/log/logger.ts';
import { defineCapability } from '../capability.ts';
import { type AdjustableLogger, createVerbosity, type Verbosity } from './verbosity.ts';

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
  // Not silent: the log reports each change.
  level: z.enum(['debug', 'info', 'warn', 'error']).optional(),
  requestIds: z
    .array(z.string().regex(/^[A-Za-z0-9._~:/+=@-]{1,128}$/))
    .max(MAX_IDS)
    .optional(),
  traceIds: z
    .array(z.string().regex(/^[0-9a-f]{32}$/))
    .max(MAX_IDS)
    .optional(),
  forMs: z.int().min(1000).max(86_400_000).default(600_000),
});

type LogChange = z.output<typeof LogChange>;

const USAGE =
  'The body must be JSON such as {"level":"debug","requestIds":["…"],"traceIds":["…"],"forMs":600000}; what is omitted is as in settings.';

function changed(verbosity: Verbosity, change: LogChange | undefined): Buffer {
  if (change !== undefined) verbosity.change(change);
  return Buffer.from(`${JSON.stringify(verbosity.state())}\n`);
}

/**
 * For clients on this machine only: on other addresses and by other host names, the listener can be in reach of web pages.
 * `apply` returns the state, after a change if there is one.
 */
function logOperations(apply: (change?: LogChange) => Promise<Buffer>, isWorker: boolean): OpenOperation[] {
  const check = isWorker ? () => {} : requireLoopback;
  const held = createHeldBytes(MAX_BODY_BYTES * 16);
  const operation = { path: '/log', isProbe: false, open: true } as const;
  return [
    {
      ...operation,
      methods: ['GET', 'HEAD'],
      takesBody: false,
      async respond(exchange) {
        check(exchange);
        return responseOf(await apply());
      },
    },
    {
      ...operation,
      methods: ['PUT'],
      takesBody: true,
      async respond(exchange) {
        check(exchange);
        const body = await readBody(exchange, { maxBytes: MAX_BODY_BYTES }, held);
        const { success, data } = LogChange.safeParse(parse(body));
        if (!success) throw explained('invalid_request', USAGE);
        return responseOf(await apply(data));
      },
    },
  ];
}

function requireLoopback({ req, target, fields }: Exchange): void {
  const host = target?.authority ?? fields.host[0];
  const isLocal = isLoopbackAddress(req.socket.remoteAddress ?? '') && host !== undefined && isLoopbackHost(host);
  if (!isLocal) throw explained('access_denied', 'Use a loopback address of this machine.');
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

function responseOf(body: Buffer): HttpResponse {
  return {
    status: 200,
    headers: ['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store'],
    body,
  };
}
