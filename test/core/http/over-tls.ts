import type { TlsIdentity } from '../../../src/core/credentials/files/tls-files.ts';
import type { HttpSettings } from '../../../src/core/http/listeners.ts';
import { createAuthority, type Issued } from '../../support/certificates.ts';
import { exchange, openConnection } from '../../support/raw-http.ts';
import { serve, serveRpc } from './served.ts';

export const AUTHORITY = await createAuthority();
const LEAF = await AUTHORITY.issue();

type Tls = NonNullable<HttpSettings['tls']>;

/** A listener's TLS whose files never change. */
export function tlsOf({ cert, key }: Issued = LEAF, ca?: string): Tls {
  const held: TlsIdentity = { cert: Buffer.from(cert), key: Buffer.from(key), ca: ca ? Buffer.from(ca) : undefined };
  const files = { held, check: async () => {}, current: async () => held };
  return { files, hstsMaxAgeDays: 365 };
}

/** What connections to a listener may be made of, and the ways to have either. */
export const CARRIERS = [
  { over: 'TCP', serve, serveRpc, openConnection, exchange },
  {
    over: 'TLS',
    serve: (options: Parameters<typeof serve>[0] = {}) => serve({ tls: tlsOf(), ...options }),
    serveRpc: (handle: Parameters<typeof serveRpc>[0], options: Parameters<typeof serveRpc>[1] = {}) =>
      serveRpc(handle, { tls: tlsOf(), ...options }),
    openConnection: (url: string, options: Parameters<typeof openConnection>[1] = {}) =>
      openConnection(url, { tls: { ca: AUTHORITY.ca }, ...options }),
    exchange: (url: string, request: string | Buffer) => exchange(url, request, { tls: { ca: AUTHORITY.ca } }),
  },
] as const;
