import { GatewayError } from '../../kernel/errors.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Middleware } from '../context.ts';
import { logBug } from '../log-bug.ts';
import { problemAnswer } from '../problem.ts';
import { send } from '../send.ts';

/** Turns what is thrown below into a problem. What is no `GatewayError` is a bug: `internal`, with its stack in the log. */
export function answerErrors(logger: Logger): Middleware {
  return async function answer(ctx, next) {
    try {
      await next();
    } catch (error) {
      const { exchange } = ctx.state;
      if (exchange.gone) return;
      const failure = error instanceof GatewayError ? error : new GatewayError('internal', { cause: error });
      if (failure.code === 'internal') logBug(logger, exchange, error);
      exchange.failure = failure;
      exchange.outcome = failure.code;
      send(ctx, problemAnswer(failure, exchange.requestId, exchange.allow));
    }
  };
}
