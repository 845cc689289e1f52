/** Matches a credential that a header transports unchanged (RFC 9110, section 5.5). */
export const HEADER_VALUE = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;

/**
 * Matches a token after its scheme: visible ASCII. RFC 6750 allows fewer characters than platforms use
 * (docs/decisions/0052).
 */
export const TOKEN = /^[\x21-\x7e]+$/;

/** Describes why a text does not match {@link TOKEN} or {@link HEADER_VALUE}, without repeating any of it. */
export function flawOf(text: string): string {
  if (text === '') return 'it is empty';
  if (/[^\p{ASCII}]/u.test(text)) return 'it has a character outside ASCII';
  return /[^\P{Cc}\s]/u.test(text) ? 'it has a control character' : 'it has white space';
}
