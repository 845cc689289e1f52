import { connect, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectSecurely } from 'node:tls';
import { TOKEN } from './authorization/caller.ts';
import { onCleanup } from './cleanup.ts';
import { holdToDescription } from './platform/openapi.ts';
import { type RawResponse, takeResponses } from './platform/raw-response.ts';

/** A connection on which a test writes every byte. */
export interface RawConnection {
  readonly socket: Socket;
  /** Sends these bytes (of text: one for each character) in one piece. */
  send(bytes: string | Buffer): void;
  /** Takes the next response, interim ones (1xx) included. Rejects where the connection closes before it is whole. */
  receive(): Promise<RawResponse>;
  /** Takes what has come in full and has not been taken yet. */
  arrived(): RawResponse[];
  /** What has come of a response that is not whole yet. */
  unfinished(): Buffer;
  /** Ends the connection with a reset. */
  reset(): void;
  /** Resolves once the server has closed the connection, with all that has not been taken. */
  closed(): Promise<Closed>;
}

/** What a closed connection has left. */
interface Closed {
  readonly responses: readonly RawResponse[];
  /** Bytes that make no whole response. */
  readonly rest: Buffer;
  /** Code of the error with which the connection ended, such as `ECONNRESET`; or what was wrong with the bytes. */
  readonly error: string | undefined;
}

interface RawOptions {
  /** The requests are `HEAD`, so that no response has the body that it announces. */
  readonly head?: boolean;
  /** Of a connection to `https:`. */
  readonly tls?: ConnectionOptions;
}

/** Connects to the server at `url`, also `https:` and `unix:<path>`. */
export function openConnection(url: string, { head = false, tls = {} }: RawOptions = {}): RawConnection {
  const carrier = connectTo(url).setNoDelay();
  const socket = url.startsWith('https:') ? connectSecurely({ ...tls, socket: carrier }) : carrier;
  let taken: RawResponse[] = [];
  let rest: Buffer = Buffer.alloc(0);
  let error: NodeJS.ErrnoException | undefined;
  let isOpen = true;
  let wake = () => {};

  const ended = onCleanup(() => socket.destroy());
  let chunks: Buffer[] = [];
  const take = () => {
    if (chunks.length === 0) return;
    try {
      const taking = takeResponses(Buffer.concat([rest, ...chunks]), head);
      taken.push(...taking.responses);
      rest = taking.rest;
      wake();
    } catch (cause) {
      socket.destroy(cause as Error);
    }
    chunks = [];
  };
  socket.on('data', (chunk: Buffer) => {
    // The records of TLS are small: those of one turn together.
    if (chunks.length === 0) setImmediate(take);
    chunks.push(chunk);
  });
  socket.on('error', (cause: NodeJS.ErrnoException) => {
    error = cause;
  });
  const closing = new Promise<void>((resolve) => {
    socket.on('close', () => {
      take();
      isOpen = false;
      ended();
      resolve();
      wake();
    });
  });
  const arrived = () => {
    take();
    const responses = taken;
    taken = [];
    return responses;
  };
  return {
    socket,
    send: (bytes) => socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes),
    async receive() {
      for (;;) {
        const response = taken.shift();
        if (response !== undefined) return response;
        if (!isOpen) throw new Error(`closed after: ${rest.toString('latin1')}`, { cause: error });
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    reset: () => carrier.resetAndDestroy(),
    arrived,
    unfinished() {
      take();
      return rest;
    },
    async closed() {
      await closing;
      return { responses: arrived(), rest, error: error?.code ?? error?.message };
    },
  };
}

/** Connects, and sends these bytes at once. */
export function sendTo(url: string, bytes: string, options?: RawOptions): RawConnection {
  const connection = openConnection(url, options);
  connection.send(bytes);
  return connection;
}

function connectTo(url: string): Socket {
  if (url.startsWith('unix:')) return connect(url.slice('unix:'.length));
  const { hostname, port } = new URL(url);
  return connect(Number(port), hostname.replace(/[[\]]/g, ''));
}

/**
 * Sends one request on a connection of its own, gives the final response, and closes the connection. Whatever a test looks
 * into, the response complies with the OpenAPI description.
 */
export async function exchange(url: string, request: string | Buffer, options: RawOptions = {}): Promise<RawResponse> {
  const connection = openConnection(url, { ...options, head: request.toString('latin1').startsWith('HEAD ') });
  connection.send(request);
  let response = await connection.receive();
  while (response.status < 200) response = await connection.receive();
  connection.socket.destroy();
  holdToDescription(request.toString('latin1'), response);
  return response;
}

/** Header fields by name; `undefined` leaves one out that would be sent by default. */
type Fields = Readonly<Record<string, string | undefined>>;

/** The text of a request with `Host`, a token and the length of its body, which `fields` override. */
export function requestText(method: string, target: string, fields: Fields = {}, body = ''): string {
  const length = body === '' ? {} : { 'Content-Length': String(Buffer.byteLength(body, 'latin1')) };
  const all = Object.entries({ Host: 'localhost', Authorization: `Bearer ${TOKEN}`, ...length, ...fields });
  const lines = all.flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}\r\n`]));
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

export const get = (target: string, fields?: Fields): string => requestText('GET', target, fields);
