const MAX_SECONDS = 3600;

/** IMF-fixdate, and the two obsolete forms that a recipient must still read (RFC 9110, section 5.6.7). */
const HTTP_DATE =
  /^(?:[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT|[A-Z][a-z]+, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4})$/;

/**
 * Seconds that a `Retry-After` field asks for, from 1 to 3600 whatever it says; `undefined` where it is absent or
 * malformed. `now` is in milliseconds since the epoch (RFC 9110, section 10.2.3).
 */
export function retryAfterSeconds(field: string | string[] | undefined, now: number): number | undefined {
  if (typeof field !== 'string') return undefined;
  const seconds = /^\d+$/.test(field) ? Number(field) : (httpDate(field) - now) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(Math.ceil(seconds), 1), MAX_SECONDS);
}

function httpDate(text: string): number {
  if (!HTTP_DATE.test(text)) return Number.NaN;
  // The asctime form names no zone but is UTC.
  return Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
}
