/** The headers that a plain request goes by. */
export interface PlainFields {
  host?: string;
  authorization?: string;
  accept?: string;
  acceptEncoding?: string;
  ifNoneMatch?: string;
  contentType?: string;
  /** `Content-Length`, in bytes. */
  length?: string;
  requestId?: string;
  traceparent?: string;
  tracestate?: string;
}

/** Which of them each name is; `undefined` for what makes a request none that is plain. */
type Known = ReadonlyMap<string, keyof PlainFields | undefined>;

const ALWAYS = [
  ['host', 'host'],
  ['authorization', 'authorization'],
  ['accept', 'accept'],
  ['x-request-id', 'requestId'],
  ['traceparent', 'traceparent'],
  ['tracestate', 'tracestate'],
  ['cache-control', undefined],
  ['origin', undefined],
  ['transfer-encoding', undefined],
  ['expect', undefined],
] as const;

/** For reads. */
export const PLAIN_READ: Known = new Map([
  ...ALWAYS,
  ['accept-encoding', 'acceptEncoding'],
  ['if-none-match', 'ifNoneMatch'],
  ['content-length', undefined],
]);

/** For what is posted to an endpoint. */
export const PLAIN_POST: Known = new Map([...ALWAYS, ['content-type', 'contentType'], ['content-length', 'length']]);

/**
 * The headers of a request as most clients send them, in one pass and without Node's own table of them. `undefined`
 * where one came twice, or where one came that asks for more than a plain answer. `rawHeaders` as Node has them,
 * names and values by turns.
 */
export function plainFields(rawHeaders: readonly string[], known: Known): PlainFields | undefined {
  const fields: PlainFields = {};
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    const field = known.get(name);
    if (field !== undefined && fields[field] === undefined) fields[field] = rawHeaders[index + 1] ?? '';
    else if (known.has(name)) return undefined;
  }
  return fields;
}
