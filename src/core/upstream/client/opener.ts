import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { undici } from './undici.ts';

/** Opens a connection, unless `signal` aborts first: its reason is what that ends with. */
export type Opener = (options: buildConnector.Options, signal: AbortSignal) => Promise<Socket>;

/** Opens connections by undici's connector, which looks up the host and speaks TLS; it has no timer here. */
export function createOpener(options: buildConnector.BuildOptions): Opener {
  // Its documentation says that it returns the socket at once; its types do not.
  const open = undici.buildConnector({ ...options, timeout: 0 }) as (
    ...args: Parameters<buildConnector.connector>
  ) => Socket;
  return (target, signal) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const stop = () => socket.destroy(signal.reason);
      const socket = open(target, (error, opened) => {
        signal.removeEventListener('abort', stop);
        if (error === null) resolve(opened);
        else reject(error);
      });
      signal.addEventListener('abort', stop, { once: true });
    });
}
