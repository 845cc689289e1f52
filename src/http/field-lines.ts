/** What a header line takes on the wire beside its name and value: `: ` and CRLF. */
const LINE_OVERHEAD = 4;

/**
 * Every value of one header, in order, as it came: also those that Node drops from `headers`. `rawHeaders` as Node
 * has them, names and values by turns; `name` in lower case.
 */
export function fieldValues(rawHeaders: readonly string[], name: string): string[] {
  return rawHeaders.filter((_value, index) => index % 2 === 1 && isNamed(rawHeaders[index - 1], name));
}

/** Bytes that the headers took on the wire (Node decodes them as Latin-1: one character a byte). */
export function fieldBytes(rawHeaders: readonly string[]): number {
  return rawHeaders.reduce((total, text) => total + text.length, (rawHeaders.length / 2) * LINE_OVERHEAD);
}

function isNamed(candidate: string | undefined, name: string): boolean {
  return candidate !== undefined && candidate.length === name.length && candidate.toLowerCase() === name;
}
