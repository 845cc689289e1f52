import { connect, type Socket } from 'node:net';

/** One answer as it came over the wire. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
  /** Bytes of all of it. */
  readonly size: number;
}

/** A connection of a test's own, byte by byte. */
export interface Wire {
  readonly socket: Socket;
  write(text: string): void;
  /** The answers so far that are whole, interim ones (1xx) included. `HEAD` has none of the body that it announces. */
  answers(): WireAnswer[];
  /** Resolves with the first `count` answers. Rejects where the connection closes before. */
  receive(count: number): Promise<WireAnswer[]>;
  /** Resolves with all answers once the server has closed the connection. */
  closed(): Promise<WireAnswer[]>;
}

export function openWire(url: string, { head = false } = {}): Wire {
  const socket = url.startsWith('unix:')
    ? connect(url.slice('unix:'.length))
    : connect(Number(new URL(url).port), new URL(url).hostname.replace(/[[\]]/g, ''));
  const chunks: Buffer[] = [];
  let wake = () => {};
  socket.setNoDelay();
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    wake();
  });
  const ended = new Promise<void>((resolve) => {
    socket.on('error', () => {});
    socket.on('close', () => {
      resolve();
      wake();
    });
  });
  const answers = () => parseAnswers(Buffer.concat(chunks), head);
  return {
    socket,
    write: (text) => socket.write(text, 'latin1'),
    answers,
    async receive(count) {
      for (;;) {
        const so = answers();
        if (so.length >= count) return so.slice(0, count);
        if (socket.destroyed) throw new Error(`closed after ${so.length} answers: ${Buffer.concat(chunks)}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    async closed() {
      await ended;
      return answers();
    },
  };
}

function parseAnswers(bytes: Buffer, head: boolean): WireAnswer[] {
  const answers: WireAnswer[] = [];
  let rest = bytes;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end === -1) return answers;
    const [line = '', ...fields] = rest.toString('latin1', 0, end).split('\r\n');
    const headers = new Headers();
    for (const field of fields) headers.append(field.slice(0, field.indexOf(':')), field.slice(field.indexOf(':') + 1));
    const length = head ? 0 : Number(headers.get('content-length') ?? 0);
    const body = rest.subarray(end + 4, end + 4 + length);
    if (body.length < length) return answers;
    answers.push({ status: Number(line.split(' ')[1]), headers, body, size: end + 4 + length });
    rest = rest.subarray(end + 4 + length);
  }
}

/** A `GET` of `target` as text, with Host and a token unless `fields` say otherwise; `undefined` leaves one out. */
export function get(target: string, fields: Readonly<Record<string, string | undefined>> = {}, method = 'GET'): string {
  const all = { Host: 'localhost', Authorization: 'Bearer token-of-the-test', ...fields };
  const lines = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}\r\n`]));
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** Sends one request on a connection of its own and gives its answer. */
export async function ask(
  url: string,
  request: string,
): Promise<WireAnswer & { readonly json: Record<string, unknown> }> {
  const wire = openWire(url, { head: request.startsWith('HEAD ') });
  wire.write(request);
  const [answer] = await wire.receive(1);
  wire.socket.destroy();
  if (answer === undefined) throw new Error('no answer');
  return {
    ...answer,
    get json() {
      return JSON.parse(answer.body.toString());
    },
  };
}
