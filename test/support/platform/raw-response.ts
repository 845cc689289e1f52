/** One whole response of HTTP/1.1, as it came over the wire. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Headers;
  /** As it came, but for the framing of chunks. */
  readonly body: Buffer;
  /** Bytes of all of it. */
  readonly size: number;
  /** The body as JSON. */
  json<T = Record<string, unknown>>(): T;
}

const HEAD_END = '\r\n\r\n';
const NO_BODY: ReadonlySet<number> = new Set([204, 304]);

/**
 * Takes whole responses off the front of bytes (RFC 9112, section 6.3). A response that announces no length has no body.
 * `head`: they respond to `HEAD`. Throws where the bytes are no HTTP.
 */
export function takeResponses(bytes: Buffer, head = false): { responses: RawResponse[]; rest: Buffer } {
  const responses: RawResponse[] = [];
  let rest = bytes;
  for (;;) {
    const response = takeOne(rest, head);
    if (response === undefined) return { responses, rest };
    responses.push(response);
    rest = rest.subarray(response.size);
  }
}

function takeOne(bytes: Buffer, head: boolean): RawResponse | undefined {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd === -1) return undefined;
  const [line = '', ...fields] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const [, code] = /^HTTP\/1\.1 (\d{3}) ?[ -~]*$/.exec(line) ?? [];
  if (code === undefined) throw new Error(`wrong: the status line ${line}`);
  const status = Number(code);
  const headers = new Headers();
  for (const field of fields) headers.append(field.slice(0, field.indexOf(':')), field.slice(field.indexOf(':') + 1));
  const start = headEnd + HEAD_END.length;
  const framed = head || status < 200 || NO_BODY.has(status) ? NOTHING : takeBody(bytes, start, headers);
  if (framed === undefined) return undefined;
  const { body, size } = framed;
  return { status, headers, body, size: start + size, json: () => JSON.parse(body.toString()) };
}

interface Framed {
  readonly body: Buffer;
  /** Bytes of the body and of its framing. */
  readonly size: number;
}

const NOTHING: Framed = { body: Buffer.alloc(0), size: 0 };

function takeBody(bytes: Buffer, start: number, headers: Headers): Framed | undefined {
  if (headers.get('transfer-encoding') === 'chunked') return takeChunks(bytes, start);
  const size = Number(headers.get('content-length') ?? 0);
  return bytes.length < start + size ? undefined : { body: bytes.subarray(start, start + size), size };
}

function takeChunks(bytes: Buffer, start: number): Framed | undefined {
  const chunks: Buffer[] = [];
  for (let at = start; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd === -1) return undefined;
    const length = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    const end = lineEnd + 2 + length;
    if (bytes.length < end + 2) return undefined;
    chunks.push(bytes.subarray(lineEnd + 2, end));
    at = end + 2;
    if (length === 0) return { body: Buffer.concat(chunks), size: at - start };
  }
}
