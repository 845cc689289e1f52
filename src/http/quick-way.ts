import type { IncomingMessage } from 'node:http';
import type { Logger } from '../observability/logger.ts';
import type { FramingLimits } from './checks/framing.ts';
import type { Connections } from './connections.ts';
import type { Exchange } from './exchange.ts';
import { failureAnswer } from './failure-answer.ts';
import { fieldBytes } from './field-lines.ts';
import type { Lifecycle } from './lifecycle.ts';
import { acceptsPlainly } from './negotiate.ts';
import type { PlainFields } from './plain-fields.ts';
import { fixHeaders, type QuickAnswer, sendQuickly } from './quick-answer.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

export interface QuickWayOptions {
  readonly limits: FramingLimits;
  readonly keepAliveTimeoutMs: number;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
  readonly connections: Connections;
  /** Whether the listener answers for a host. */
  readonly answersFor: (host: string) => boolean;
}

/** What all that is answered ahead of the layers has in common with them. */
export interface QuickWay {
  /** Whether no layer has anything to say of a request with these headers, beside what is special to its route. */
  isInOrder(req: IncomingMessage, fields: PlainFields): boolean;
  send(exchange: Exchange, status: number, headers: Readonly<Record<string, string>>, body?: QuickAnswer['body']): void;
  /** Answers with a problem, if anybody is left to answer. */
  fail(exchange: Exchange, error: unknown): void;
}

const FIXED = fixHeaders(SECURITY_HEADERS);

export function createQuickWay(options: QuickWayOptions): QuickWay {
  const { limits, keepAliveTimeoutMs, logger, lifecycle, connections, answersFor } = options;

  function isInOrder({ rawHeaders, httpVersion }: IncomingMessage, { host, accept }: PlainFields): boolean {
    if (httpVersion !== '1.1' || lifecycle.stopping) return false;
    if (host === undefined || !answersFor(host) || !acceptsPlainly(accept)) return false;
    return fieldBytes(rawHeaders) <= limits.maxHeaderBytes;
  }

  function send(
    exchange: Exchange,
    status: number,
    headers: Readonly<Record<string, string>>,
    body?: QuickAnswer['body'],
  ): void {
    exchange.bytes = body === undefined ? 0 : lengthOf(body);
    const all: Record<string, string> = { ...headers, 'X-Request-Id': exchange.requestId };
    if (body !== undefined) all['Content-Length'] = String(exchange.bytes);
    if (exchange.bytes === 0) delete all['Content-Type'];
    sendQuickly(exchange.res, {
      status,
      fixed: FIXED,
      headers: all,
      body,
      last: connections.isLast(exchange),
      keepAliveTimeoutMs,
    });
  }

  function fail(exchange: Exchange, error: unknown): void {
    if (exchange.gone) return;
    const { status, headers, body } = failureAnswer(error, exchange, logger);
    // A bug that showed once the answer had begun: all that is left is not to let it pass for a whole one.
    if (exchange.res.headersSent) {
      connections.cutOff(exchange, exchange.outcome);
      return;
    }
    send(exchange, status, headers, body);
  }

  return { isInOrder, send, fail };
}

function lengthOf(body: Buffer | readonly Buffer[]): number {
  return Buffer.isBuffer(body) ? body.length : body.reduce((total, { length }) => total + length, 0);
}
