import type { ConnectionOptions } from 'node:tls';
import type { TlsIdentity } from '../../../src/core/credentials/files/tls-files.ts';
import type { PublicListenerSettings } from '../../../src/core/http/listeners.ts';
import type { HandleMessage } from '../../../src/core/http/operations/rpc.ts';
import { createHeldReads } from '../../support/catalogue.ts';
import { createAuthority, type Issued } from '../../support/certificates.ts';
import { eventually } from '../../support/eventually.ts';
import { exchange, get, openConnection, sendTo } from '../../support/raw-http.ts';
import { echo, READ, type ServeOptions, serve, serveRpc } from './served.ts';

export const AUTHORITY = await createAuthority();
const LEAF = await AUTHORITY.issue();

type Tls = NonNullable<PublicListenerSettings['tls']>;

/** A listener's TLS whose files never change. */
export function tlsOf({ cert, key }: Issued = LEAF, ca?: string): Tls {
  const held: TlsIdentity = { cert: Buffer.from(cert), key: Buffer.from(key), ca: ca ? Buffer.from(ca) : undefined };
  const files = { held, check: async () => {}, current: async () => held };
  return { files };
}

/** Ways to have a listener and connections to it. */
function carrier(over: 'TCP' | 'TLS', listener: ServeOptions, client: ConnectionOptions) {
  const send = (url: string, bytes: string) => sendTo(url, bytes, { tls: client });
  return {
    over,
    serve: (options: ServeOptions = {}) => serve({ ...listener, ...options }),
    serveRpc: (handle: HandleMessage, options: ServeOptions = {}) => serveRpc(handle, { ...listener, ...options }),
    openConnection: (url: string) => openConnection(url, { tls: client }),
    sendTo: send,
    exchange: (url: string, request: string) => exchange(url, request, { tls: client }),
    /** A listener, and a connection with one read in flight that the test releases, and with what is sent behind it. */
    async serveReading(behind = '', options: ServeOptions = {}) {
      const { read, release, waiting } = createHeldReads();
      const served = await serveRpc(echo, { read, ...listener, ...options });
      const connection = send(served.url, get(READ) + behind);
      await eventually(() => served.reads.length === 1);
      return { ...served, connection, release, waiting };
    },
  };
}

/** What connections to a listener may be made of. */
export const CARRIERS = [carrier('TCP', {}, {}), carrier('TLS', { tls: tlsOf() }, { ca: AUTHORITY.ca })] as const;
export const { serveReading } = CARRIERS[0];
