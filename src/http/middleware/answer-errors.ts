import type { Logger } from '../../observability/logger.ts';
import type { Middleware } from '../context.ts';
import { failureAnswer } from '../failure-answer.ts';
import { send } from '../send.ts';

/** Turns what is thrown below into a problem. */
export function answerErrors(logger: Logger): Middleware {
  return async function answer(ctx, next) {
    try {
      await next();
    } catch (error) {
      const { exchange } = ctx.state;
      if (!exchange.gone) send(ctx, failureAnswer(error, exchange, logger));
    }
  };
}
