import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer, type Socket } from 'node:net';
import { onCleanup } from '../cleanup.ts';
import { listen } from '../listening.ts';

/** One request, as far as what responds to it needs to know it. */
export interface RawRequest {
  /** The same server under a name that makes another origin of it. */
  readonly elsewhere: string;
  readonly target: string;
  /** The last segment of its path. */
  readonly resource: string;
  /** Which page it asks for; empty for the first one. */
  readonly pageToken: string;
  /** From 1, since the last `behave`. */
  readonly number: number;
}

/** What is done with a request. It has the socket to itself. */
export type Fault = (socket: Socket, request: RawRequest) => void;

export type RawUpstream = Awaited<ReturnType<typeof startRawUpstream>>;

interface ConnectError {
  readonly connectParams: { readonly port: string };
}

/** A platform that writes given bytes, which may or may not be HTTP. By default it closes each connection at its first request. */
export async function startRawUpstream(first: Fault = (socket) => socket.destroy()) {
  let fault = first;
  let attempts = 0;
  let number = 0;

  const server = createServer({ noDelay: true }, (socket) => {
    let text = '';
    socket.setEncoding('latin1').on('data', (bytes: string) => {
      text += bytes;
      const [head = '', body] = text.split(/\r\n\r\n(.*)/s);
      const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
      if (body === undefined || body.length < length) return;
      const target = head.split(' ')[1] ?? '';
      const { pathname, searchParams } = new URL(target, 'http://platform');
      text = '';
      attempts += 1;
      number += 1;
      fault(socket, {
        elsewhere: `http://localhost:${listening.port}`,
        target,
        resource: pathname.slice(pathname.lastIndexOf('/') + 1),
        pageToken: searchParams.get('pageToken') ?? '',
        number,
      });
    });
    // A client that resets its connection is nothing to speak of.
    socket.on('error', () => {});
  });
  const listening = await listen(server);
  const countFailed = (message: unknown) => {
    if ((message as ConnectError).connectParams.port === String(listening.port)) attempts += 1;
  };
  subscribe('undici:client:connectError', countFailed);
  const stopCounting = () => unsubscribe('undici:client:connectError', countFailed);
  const ended = onCleanup(stopCounting);

  return {
    ...listening,
    /** Requests so far, and failed connection attempts of its client. */
    attempts: () => attempts,
    /** Does this with each request from now on. `refuses`: takes no connection, and closes those that there are. */
    async behave(next: Fault | 'refuses') {
      number = 0;
      if (next === 'refuses') return listening.refuse();
      fault = next;
      await listening.accept();
    },
    close() {
      ended();
      stopCounting();
      return listening.close();
    },
  };
}
