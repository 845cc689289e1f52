import { type ServerResponse, STATUS_CODES } from 'node:http';

/** What `node:http` keeps the head of an answer in, once it is written. Not in its types; `headersSent` reads it. */
interface WithHead {
  _header: string | null;
}

/** Headers, and the same as they go over the wire. */
export interface FixedHeaders {
  readonly headers: Readonly<Record<string, string>>;
  readonly lines: string;
}

export interface QuickAnswer {
  readonly status: number;
  /** Those that every answer has. */
  readonly fixed: FixedHeaders;
  /** Well-formed by the way they are made, as all are: nothing checks them here. */
  readonly headers: Readonly<Record<string, string>>;
  /** In one piece, or in several that are sent one after the other. */
  readonly body?: Buffer | readonly Buffer[] | undefined;
  /** Whether the connection is to be closed after it. */
  readonly last: boolean;
  /** How long the connection is kept otherwise. */
  readonly keepAliveTimeoutMs: number;
}

/**
 * Sends a whole answer whose headers need no checking. `writeHead` looks at every character of every header of every
 * answer, which for a cached read costs about as much as all that Portico itself does for it. Where this Node keeps the
 * head elsewhere, or the connection ends with this answer, it is `writeHead` that sends it.
 */
export function sendQuickly(res: ServerResponse, answer: QuickAnswer): void {
  const { status, fixed, headers, body, last, keepAliveTimeoutMs } = answer;
  if (hasHead(res) && res.shouldKeepAlive && !last) {
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${fixed.lines}${linesOf(headers)}`;
    const seconds = Math.floor(keepAliveTimeoutMs / 1000);
    head += `Date: ${httpDate()}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n\r\n`;
    res.statusCode = status;
    res._header = head;
  } else {
    res.writeHead(status, { ...fixed.headers, ...headers, ...(last && { Connection: 'close' }) });
  }
  if (body === undefined || Buffer.isBuffer(body)) {
    res.end(body);
  } else {
    for (const piece of body) res.write(piece);
    res.end();
  }
}

/** Headers that are the same for many answers. */
export function fixHeaders(headers: Readonly<Record<string, string>>): FixedHeaders {
  return { headers, lines: linesOf(headers) };
}

function linesOf(headers: Readonly<Record<string, string>>): string {
  let lines = '';
  for (const name in headers) lines += `${name}: ${headers[name]}\r\n`;
  return lines;
}

function hasHead(res: ServerResponse): res is ServerResponse & WithHead {
  return '_header' in res && res._header === null;
}

let second = 0;
let date = '';

/** The time as `Date` has it (RFC 9110, section 5.6.7), made once a second. */
function httpDate(): string {
  const now = Math.floor(Date.now() / 1000);
  if (now !== second) {
    second = now;
    date = new Date(now * 1000).toUTCString();
  }
  return date;
}
