import { GatewayError } from './errors.ts';
import type { RequestRecord } from './request-record.ts';

const MAX_CAUSES = 5;
/** OpenSSL codes may contain a slash: `ERR_SSL_SSL/TLS_ALERT_UNEXPECTED_MESSAGE`. */
const IDENTIFIER = /^[\w./]{1,64}$/;

/**
 * Returns an error's causes as `Name` or `Name CODE`, outermost first, without the error itself, at most five. Never a
 * message, which may contain external text.
 */
export function causesOf(error: unknown): string[] {
  const causes: string[] = [];
  let cause = error instanceof Error ? error.cause : undefined;
  while (cause instanceof Error && causes.length < MAX_CAUSES) {
    causes.push(nameError(cause));
    cause = cause.cause;
  }
  return causes;
}

/**
 * Returns the code of failed work for events: the error's code, `cancelled` if its signal has aborted, or `internal`
 * for a bug.
 */
export function codeOf(error: unknown, signal?: AbortSignal): string {
  if (error instanceof GatewayError) return error.code;
  return signal?.aborted ? 'cancelled' : 'internal';
}

const GOOD: ReadonlySet<string> = new Set(['ok', 'not_modified']);

/** Returns `error_type` of an HTTP request for metrics and traces. By OpenTelemetry's conventions a 4xx has none. */
export function errorTypeOf({ outcome, error, status = 500 }: RequestRecord): string | undefined {
  if (GOOD.has(outcome)) return undefined;
  const isAnswered = outcome === error?.code;
  return isAnswered && status < 500 ? undefined : outcome;
}

/** Formats an error as `Name` or `Name CODE`. Omits text that does not look like a name or a code. */
export function nameError(error: Error): string {
  const name = IDENTIFIER.test(error.name) ? error.name : 'Error';
  const code = 'code' in error ? error.code : undefined;
  return typeof code === 'string' && IDENTIFIER.test(code) ? `${name} ${code}` : name;
}

/** Describes a bug by its stack, or the type of the thrown value. May contain external text. */
export function stackOf(thrown: unknown): string {
  return (thrown instanceof Error ? thrown.stack : undefined) ?? `thrown: ${typeof thrown}`;
}
