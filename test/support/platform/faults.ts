import type { Fault, RawRequest } from './raw-upstream.ts';

type Bytes = string | Buffer;

/** In the body of every response that is not to be passed on. */
export const WORDS = 'words of the platform';

/** What happens to a connection after bytes were written. */
type Then = 'stay' | 'end' | 'reset';

/** So that what was written before has been read: a reset would overtake it. */
const PAUSE_MS = 10;

/** Writes bytes, or what it makes of the request. */
export function sends(bytes: Bytes | ((request: RawRequest) => Bytes), then: Then = 'stay'): Fault {
  return (socket, request) => {
    socket.write(typeof bytes === 'function' ? bytes(request) : bytes, () => {
      if (then === 'end') socket.end();
      if (then === 'reset') setTimeout(() => socket.resetAndDestroy(), PAUSE_MS);
    });
  };
}

/** Does one thing with the first request, and another with all that follow. */
export function once(first: Fault, rest: Fault): Fault {
  return (socket, request) => (request.number === 1 ? first : rest)(socket, request);
}

/** Writes the head, and then `piece` again and again, at `everyMs`, until the connection is closed. */
export function drips(head: string, piece: string, everyMs: number): Fault {
  return (socket) => {
    socket.write(head);
    const timer = setInterval(() => socket.write(piece), everyMs);
    socket.on('close', () => clearInterval(timer));
  };
}

/** A message with a `Content-Length` that fits, and these fields before it. */
export function message(status: string, body: Bytes, ...fields: readonly string[]): Buffer {
  const head = [`HTTP/1.1 ${status}`, ...fields, `Content-Length: ${Buffer.byteLength(body)}`];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), Buffer.from(body)]);
}

export const item = (id: string) => ({ id, name: 'N', description: WORDS });

/** A page of the contract that holds these items and leads to the next one. */
export function page({ resource }: RawRequest, items: readonly object[] = [item('one')], nextPageToken = ''): string {
  return JSON.stringify({ [resource]: items, nextPageToken });
}

/** A page as it should be, with a status that may be another. The body comes a moment after the head. */
export function says(status: string, ...fields: readonly string[]): Fault {
  return (socket, request) => {
    const bytes = message(status, page(request), ...fields);
    const length = bytes.indexOf('\r\n\r\n') + 4;
    socket.write(bytes.subarray(0, length));
    setTimeout(() => socket.write(bytes.subarray(length)), PAUSE_MS);
  };
}

/** The one page of a list, as it should be. */
export const responds: Fault = says('200 OK');
