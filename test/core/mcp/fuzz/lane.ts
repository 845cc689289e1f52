import { once } from 'node:events';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import type { RawResponse } from '../../../support/platform/raw-response.ts';
import { openConnection, type RawConnection } from '../../../support/raw-http.ts';
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
export function openLane(url: string) {
  let connection: RawConnection | undefined;

  async function attempt(bytes: Buffer): Promise<RawResponse> {
    connection ??= openConnection(url);
    const { send, receive, arrived, unfinished } = connection;
    send(bytes);
    let response = await receive();
    while (response.status < 200) response = await receive();
    if (arrived().length > 0 || unfinished().length > 0) throw new Error('wrong: more than one answer');
    if (response.headers.get('connection') === 'close') drop();
    return response;
  }

  function drop(): void {
    connection?.socket.destroy();
    connection = undefined;
  }

  /** Rejects with what is wrong with the bytes, if anything is. */
  function fail({ message, cause }: Error): never {
    drop();
    const wrong = [message, String((cause as Error | undefined)?.message)].find((text) => text.startsWith('wrong'));
    throw new Error(wrong ?? 'wrong: closed without an answer');
  }

  return {
    /** Sends a request and gives its answer. Rejects where there is none. */
    async ask(bytes: Buffer): Promise<RawResponse> {
      const reused = connection !== undefined;
      return patiently(attempt(bytes)).catch((error: Error) => {
        // An idle connection may be closed just when it is used again.
        if (!reused || !/^closed after: $/.test(error.message)) return fail(error);
        drop();
        return patiently(attempt(bytes)).catch(fail);
      });
    },
    close: drop,
  };
}

/** Sends bytes on a connection of their own; gives what came back until it closed. */
export async function sendBroken(url: string, { pieces, ending }: Broken): ReturnType<RawConnection['closed']> {
  const { socket, send, reset, closed } = openConnection(url);
  try {
    await patiently(once(socket, 'connect'));
    for (const piece of pieces) {
      send(piece);
      await turn();
    }
    if (ending === 'end') socket.end();
    if (ending === 'reset') {
      await sleep(HANG_UP_MS);
      reset();
    }
    return await patiently(closed());
  } finally {
    socket.destroy();
  }
}
