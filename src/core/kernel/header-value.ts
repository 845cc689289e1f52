/** A credential that may stand in a header, and is still the same behind it (RFC 9110, section 5.5). */
export const HEADER_VALUE = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;

/** A token behind a scheme: visible ASCII. RFC 6750 has fewer characters, and platforms issue tokens with others (docs/decisions/0052). */
export const TOKEN = /^[\x21-\x7e]+$/;

/** Says why a text is no {@link TOKEN}, or no {@link HEADER_VALUE}, without any of it. */
export function flawOf(text: string): string {
  if (text === '') return 'it is empty';
  if (/[^\p{ASCII}]/u.test(text)) return 'it has a character outside ASCII';
  return /[^\P{Cc}\s]/u.test(text) ? 'it has a control character' : 'it has white space';
}
