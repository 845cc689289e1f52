import { GatewayError } from '../kernel/errors.ts';
import type { Logger } from '../observability/logger.ts';
import type { Answer } from './answer.ts';
import type { Exchange } from './exchange.ts';
import { logBug } from './log-bug.ts';
import { problemAnswer } from './problem.ts';

/** The answer to what was thrown. What is no `GatewayError` is a bug: `internal`, with its stack in the log. */
export function failureAnswer(error: unknown, exchange: Exchange, logger: Logger): Answer {
  const failure = error instanceof GatewayError ? error : new GatewayError('internal', { cause: error });
  if (failure.code === 'internal') logBug(logger, exchange, error);
  exchange.failure = failure;
  exchange.outcome = failure.code;
  return problemAnswer(failure, exchange.requestId, exchange.allow);
}
