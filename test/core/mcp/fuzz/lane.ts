import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { type RawResponse, takeResponses } from '../../../support/platform/raw-response.ts';
import type { Broken } from './broken-requests.ts';

/** Far longer than anything takes: what has not ended by then never will. */
const PATIENCE_MS = 10_000;
const HANG_UP_MS = 20;

/** Resolves when `work` does; rejects when that takes too long. */
async function patiently<T>(work: Promise<T>): Promise<T> {
  const patience = new AbortController();
  const late = sleep(PATIENCE_MS, undefined, { signal: patience.signal }).then(() => {
    throw new Error('wrong: it hangs');
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    late.catch(() => {});
    patience.abort();
  }
}

/** A connection that is used again and again, for requests that are framed as they should be. */
export interface Lane {
  /** Sends a request and gives its answer. Rejects where there is none. */
  ask(bytes: Buffer): Promise<RawResponse>;
  close(): void;
}

export function openLane(port: number): Lane {
  let socket: Socket | undefined;

  /** Gives nothing where the connection closes first. */
  function attempt(bytes: Buffer): Promise<RawResponse | undefined> {
    const used = socket?.writable === true ? socket : connect(port, '127.0.0.1').setNoDelay();
    socket = used;
    let arrived: Buffer = Buffer.alloc(0);
    const answer = new Promise<RawResponse | undefined>((resolve, reject) => {
      used.on('error', () => {});
      used.on('close', () => resolve(undefined));
      used.on('data', (chunk: Buffer) => {
        arrived = Buffer.concat([arrived, chunk]);
        try {
          const { responses, rest } = takeResponses(arrived);
          const last = responses.find(({ status }) => status >= 200);
          if (last === undefined) return;
          if (responses.at(-1) !== last || rest.length > 0) throw new Error('wrong: more than one answer');
          resolve(last);
        } catch (error) {
          reject(error);
        }
      });
      used.write(bytes);
    });
    return patiently(answer).then(
      (last) => {
        if (last === undefined || last.headers.get('connection') === 'close') drop();
        else used.removeAllListeners('data').removeAllListeners('close').removeAllListeners('error');
        return last;
      },
      (error) => {
        drop();
        throw error;
      },
    );
  }

  function drop(): void {
    socket?.destroy();
    socket = undefined;
  }

  return {
    async ask(bytes) {
      const reused = socket !== undefined;
      const answer = await attempt(bytes);
      // An idle connection may be closed just when it is used again.
      const again = answer ?? (reused ? await attempt(bytes) : undefined);
      if (again === undefined) throw new Error('wrong: closed without an answer');
      return again;
    },
    close: drop,
  };
}

/** Sends bytes on a connection of their own; gives what came back until it closed. */
export async function sendBroken(port: number, { pieces, ending }: Broken): Promise<Buffer> {
  const socket = connect(port, '127.0.0.1').setNoDelay();
  const chunks: Buffer[] = [];
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  try {
    await patiently(once(socket, 'connect'));
    for (const piece of pieces) {
      socket.write(piece);
      await turn();
    }
    if (ending === 'end') socket.end();
    if (ending === 'reset') {
      await sleep(HANG_UP_MS);
      socket.resetAndDestroy();
    }
    await patiently(closed);
  } finally {
    socket.destroy();
  }
  return Buffer.concat(chunks);
}
