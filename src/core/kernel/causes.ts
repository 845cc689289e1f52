import { GatewayError } from './errors.ts';
import type { RequestRecord } from './request-record.ts';

const MAX_CAUSES = 5;
/** OpenSSL has codes with a slash: `ERR_SSL_SSL/TLS_ALERT_UNEXPECTED_MESSAGE`. */
const WORD = /^[\w./]{1,64}$/;

/**
 * An error's chain of causes as `Name` or `Name CODE`, outermost first, itself left out, and no more than five.
 * Never a message: that may hold what came from outside.
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
 * What events say of work that failed: the code of its error, `cancelled` where the signal of whoever waited has aborted, or
 * `internal` for a bug.
 */
export function codeOf(error: unknown, signal?: AbortSignal): string {
  if (error instanceof GatewayError) return error.code;
  return signal?.aborted ? 'cancelled' : 'internal';
}

const GOOD: ReadonlySet<string> = new Set(['ok', 'not_modified']);

/**
 * What metrics and traces call the error of a request over HTTP. By the conventions, an error of the client's is none of the
 * server's: its status says what it was.
 */
export function errorTypeOf({ outcome, error, status = 500 }: RequestRecord): string | undefined {
  if (GOOD.has(outcome)) return undefined;
  const isAnswered = outcome === error?.code;
  return isAnswered && status < 500 ? undefined : outcome;
}

/** One error as `Name` or `Name CODE`. What does not look like a name or a code is left out. */
export function nameError(error: Error): string {
  const name = WORD.test(error.name) ? error.name : 'Error';
  const code = 'code' in error ? error.code : undefined;
  return typeof code === 'string' && WORD.test(code) ? `${name} ${code}` : name;
}

/** What is known of a bug: where it came from, or of which type what was thrown is. May hold what came from outside. */
export function stackOf(thrown: unknown): string {
  return (thrown instanceof Error ? thrown.stack : undefined) ?? `thrown: ${typeof thrown}`;
}
