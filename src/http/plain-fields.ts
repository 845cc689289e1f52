/** The headers that a cached read goes by. */
export interface PlainFields {
  host?: string;
  authorization?: string;
  accept?: string;
  acceptEncoding?: string;
  ifNoneMatch?: string;
  requestId?: string;
  traceparent?: string;
  tracestate?: string;
}

/** Which of them each name is; `undefined` for what makes a request none that is plain. */
const KNOWN: ReadonlyMap<string, keyof PlainFields | undefined> = new Map([
  ['host', 'host'],
  ['authorization', 'authorization'],
  ['accept', 'accept'],
  ['accept-encoding', 'acceptEncoding'],
  ['if-none-match', 'ifNoneMatch'],
  ['x-request-id', 'requestId'],
  ['traceparent', 'traceparent'],
  ['tracestate', 'tracestate'],
  ['cache-control', undefined],
  ['origin', undefined],
  ['content-length', undefined],
  ['transfer-encoding', undefined],
  ['expect', undefined],
]);

/**
 * The headers of a request as most clients send them, in one pass and without Node's own table of them. `undefined`
 * where one came twice, or where one came that asks for more than a cached answer. `rawHeaders` as Node has them,
 * names and values by turns.
 */
export function plainFields(rawHeaders: readonly string[]): PlainFields | undefined {
  const fields: PlainFields = {};
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    const field = KNOWN.get(name);
    if (field !== undefined && fields[field] === undefined) fields[field] = rawHeaders[index + 1] ?? '';
    else if (KNOWN.has(name)) return undefined;
  }
  return fields;
}
