import { connect, type Socket } from 'node:net';

/** One whole answer. */
export interface RawAnswer {
  readonly status: number;
  /** Value of a header field; `undefined` where there is none. */
  header(name: string): string | undefined;
  readonly body: Buffer;
  /** Bytes that came after it. */
  readonly rest: number;
}

/** How a request ended: with a whole answer, or with the connection, after so many bytes of one. */
export type Ending = { readonly answer: RawAnswer } | { readonly answer: undefined; readonly bytes: number };

/** One connection to a server of HTTP/1.1 that is kept, for one request at a time, with nothing done behind one's back. */
export interface RawConnection {
  /** Whether another request may be sent. */
  readonly open: boolean;
  /** Whether an answer has come over it: the server has accepted it, then. */
  readonly answered: boolean;
  send(request: string): Promise<Ending>;
  hangUp(): void;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const NOTHING = Buffer.alloc(0);

/** Longest that an answer may take, whatever the upstreams do. Far longer than any deadline in the settings of a load. */
const PATIENCE_MS = 20_000;

/** `onMistake` is told of an answer that does not come, and of bytes that belong to none. */
export function openConnection(url: string, onMistake: (mistake: string) => void): RawConnection {
  const { hostname, port } = new URL(url);
  const socket: Socket = connect(Number(port), hostname);
  let settle: ((ending: Ending) => void) | undefined;
  let received: Buffer = NOTHING;
  let open = true;
  let answered = false;

  function end(ending: Ending): void {
    const settled = settle;
    settle = undefined;
    received = NOTHING;
    settled?.(ending);
  }

  socket.setNoDelay(true);
  socket.setTimeout(PATIENCE_MS, () => {
    if (settle !== undefined) onMistake('no answer');
    socket.destroy();
  });
  socket.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const answer = parse(received);
    if (answer === undefined) return;
    if (settle === undefined || answer.rest > 0) onMistake('bytes that belong to no answer');
    answered = true;
    if (answer.header('connection') === 'close') open = false;
    end({ answer });
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    open = false;
    end({ answer: undefined, bytes: received.length });
  });
  return {
    get open() {
      return open;
    },
    get answered() {
      return answered;
    },
    send: (request) =>
      new Promise((resolve) => {
        settle = resolve;
        socket.write(request);
      }),
    hangUp() {
      open = false;
      socket.destroy();
    },
  };
}

/** The answer at the beginning of what came; `undefined` as long as it is not whole. */
function parse(bytes: Buffer): RawAnswer | undefined {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd === -1) return undefined;
  const head = bytes.toString('latin1', 0, headEnd + 2);
  const status = Number(head.slice(9, 12));
  const header = (name: string) => new RegExp(`\r\n${name}: *(.*?) *\r\n`, 'i').exec(head)?.[1];
  const length = status === 304 ? 0 : Number(header('content-length'));
  const end = headEnd + HEAD_END.length + length;
  if (bytes.length < end) return undefined;
  return { status, header, body: bytes.subarray(end - length, end), rest: bytes.length - end };
}
