/** Alternating names and values, as an object. Throws where a name comes twice. */
export function headersOf(pairs: readonly string[]): Record<string, string | undefined> {
  const headers: Record<string, string | undefined> = {};
  for (let index = 0; index < pairs.length; index += 2) {
    const name = pairs[index] as string;
    if (name in headers) throw new Error(`${name} comes twice`);
    headers[name] = pairs[index + 1];
  }
  return headers;
}
