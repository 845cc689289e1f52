import { scrub } from '../credentials/mention.ts';
import type { Logger } from '../observability/logger.ts';
import type { Exchange } from './exchange.ts';
import { fieldValues } from './field-lines.ts';

/** Logs what should not have been thrown: its stack, without what the request brought in `Authorization`. */
export function logBug(logger: Logger, { req, requestId, trace }: Exchange, error: unknown): void {
  const stack = error instanceof Error ? error.stack : undefined;
  const authorization = fieldValues(req.rawHeaders, 'authorization');
  logger.error(
    { requestId, traceId: trace?.traceId, stack: scrub(stack ?? `thrown: ${typeof error}`, authorization) },
    'internal error',
  );
}
