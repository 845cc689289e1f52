import type { Exchange } from '../../core/http/exchange.ts';
import type { OpenOperation } from '../../core/http/operations/operation.ts';
import { isLoopbackAddress, isLoopbackHost } from '../../core/http/request/hosts.ts';
import { createHeldBytes, readBody } from '../../core/http/request/incoming-body.ts';
import type { HttpResponse } from '../../core/http/response/send.ts';
import { GatewayError } from '../../core/kernel/errors.ts';

/** How much the log says, as whoever asks for it over HTTP may see and change it. */
export interface LogControl {
  /** What JSON can hold. */
  read(): object;
  /** Takes what was sent, parsed; `false` where that is no change that there is. */
  change(asked: unknown): boolean;
}

export const LOG_PATH = '/log';

const MAX_BYTES = 16_384;

const USAGE =
  'The body must be JSON such as {"level":"debug","requestIds":["…"],"traceIds":["…"],"forMs":600000}; what is left out is as settings have it.';

/**
 * Shows how much the log says, and has it say more or less for a while. For whoever is on this machine alone: on another
 * address, and by another host than a loopback name, this listener may be in reach of others, web pages among them.
 */
export function logOperations(log: LogControl): readonly OpenOperation[] {
  const held = createHeldBytes(MAX_BYTES * 16);
  const operation = { path: LOG_PATH, isProbe: false, open: true } as const;
  return [
    {
      ...operation,
      methods: ['GET', 'HEAD'],
      takesBody: false,
      respond(exchange) {
        requireNear(exchange);
        return shown(log);
      },
    },
    {
      ...operation,
      methods: ['PUT'],
      takesBody: true,
      async respond(exchange) {
        requireNear(exchange);
        const body = await readBody(exchange, { maxBytes: MAX_BYTES }, held);
        if (!log.change(parsed(body))) throw new GatewayError('invalid_request', { detail: USAGE });
        return shown(log);
      },
    },
  ];
}

function requireNear({ req, target, fields }: Exchange): void {
  const host = target?.authority ?? fields.host[0];
  const isNear = isLoopbackAddress(req.socket.remoteAddress ?? '') && host !== undefined && isLoopbackHost(host);
  if (isNear) return;
  throw new GatewayError('access_denied', { detail: 'This is for whoever is on this machine: ask over its loopback.' });
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new GatewayError('invalid_request', { detail: USAGE });
  }
}

function shown(log: LogControl): HttpResponse {
  return {
    status: 200,
    headers: ['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store'],
    body: Buffer.from(`${JSON.stringify(log.read())}\n`),
  };
}
