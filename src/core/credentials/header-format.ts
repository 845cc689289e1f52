/** Puts a token into the value of a header. */
export interface HeaderFormat {
  /** As it is: for what the operator has written. */
  fill(token: string): string;
  /**
   * For what a caller brings: within quotes it is a quoted-string (RFC 9110, section 5.6.4), and `undefined` is returned for one
   * that would end early, and have what follows taken for parameters that the operator did not write.
   */
  fillSafely(token: string): string | undefined;
}

const QUOTE = '"';
/** What separates parameters (RFC 9110, sections 5.6.1 and 5.6.6). */
const SEPARATORS = [',', ';', QUOTE];
const ESCAPED = /["\\]/g;

/** `format` holds `{token}` exactly once. */
export function createHeaderFormat(format: string): HeaderFormat {
  const [before = '', after = ''] = format.split('{token}');
  const fill = (token: string) => before + token + after;
  if (before.split(QUOTE).length % 2 === 0 && after.includes(QUOTE)) {
    return { fill, fillSafely: (token) => fill(token.replace(ESCAPED, '\\$&')) };
  }
  const ends = [...SEPARATORS.filter((each) => `${before}${after}`.includes(each)), after.trimStart().slice(0, 1)];
  const isEnded = (token: string) => ends.some((end) => end !== '' && token.includes(end));
  return { fill, fillSafely: (token) => (isEnded(token) ? undefined : fill(token)) };
}
