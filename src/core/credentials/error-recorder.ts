import type { Credential, RequestRecord } from '../kernel/caller.ts';
import { GatewayError, stackOf } from '../kernel/errors.ts';
import { type Events, emitLimitReached } from '../kernel/events.ts';
import { redactCredentials } from './redact.ts';

export type ErrorRecorder = ReturnType<typeof createErrorRecorder>;

/** Records errors of requests, and emits bugs and reached bounds. Credentials of the request are not emitted. */
export function createErrorRecorder(events: Events) {
  function reportBug({ requestId, traceId }: RequestRecord, thrown: unknown, credentials: readonly Credential[]): void {
    events.internalError?.({ requestId, traceId, stack: redactCredentials(stackOf(thrown), credentials) });
  }

  return {
    reportBug,
    /** Returns what is answered: `internal` for anything but a `GatewayError`. */
    recordError(thrown: unknown, record: RequestRecord, credentials: readonly Credential[]): GatewayError {
      const error = thrown instanceof GatewayError ? thrown : new GatewayError('internal', { cause: thrown });
      record.error = error;
      emitLimitReached(events, error, record);
      if (error.code === 'internal') reportBug(record, thrown, credentials);
      return error;
    },
  };
}
