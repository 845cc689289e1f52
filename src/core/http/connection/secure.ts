import { constants } from 'node:crypto';
import { createServer, type Server, type ServerOptions } from 'node:https';
import type { Socket } from 'node:net';
import type { SecureVersion, TLSSocket } from 'node:tls';
import type { TlsFiles } from '../../credentials/files/tls-files.ts';
import type { Events } from '../../kernel/events.ts';

/** How a listener speaks TLS. */
export interface ListenerTls {
  /** Its certificate and key, and the authorities of those of clients where they have one. */
  readonly files: TlsFiles;
  readonly minVersion: SecureVersion;
  /** Whether a client without a certificate is let in, where there are authorities. One with a wrong one never is. */
  readonly clientCertificate: 'required' | 'optional';
}

/** The files are looked at this often. */
const CHECK_MS = 1000;

/** A `node:https` server, of HTTP/1.1 only. `handshakeTimeout` of the options bounds the handshake, in milliseconds. */
export function createSecureServer(tls: ListenerTls, options: ServerOptions): Server {
  const asksForCertificate = tls.files.held.ca !== undefined;
  return createServer({
    ...options,
    ...contextOf(tls),
    ALPNProtocols: ['http/1.1'],
    requestCert: asksForCertificate,
    rejectUnauthorized: asksForCertificate && tls.clientCertificate === 'required',
    // As node:http has it: else what is being sent would end with a FIN.
    allowHalfOpen: true,
    noDelay: true,
  });
}

/** What comes of the connections of a server before they are secure, and of its certificate. */
export interface Handshakes {
  /** Takes other certificates from now on as their files change, on which nothing that is open depends. */
  watchFiles(): void;
  /** Ends the watching, and the connections that are not secure yet. */
  stop(): void;
}

export function createHandshakes(server: Server, tls: ListenerTls, events: Events): Handshakes {
  /** By what the socket of TLS has in common with the one below it. */
  const underway = new Map<string, Socket>();
  let taken = tls.files.held;
  let timer: NodeJS.Timeout | undefined;

  server.on('connection', (socket: Socket) => {
    const ends = endsOf(socket);
    underway.set(ends, socket);
    socket.once('close', () => {
      if (underway.get(ends) === socket) underway.delete(ends);
    });
  });
  // Ahead of the one with which Node begins to read requests.
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    underway.delete(endsOf(socket));
    if (socket.authorized || socket.getPeerX509Certificate() === undefined) return;
    tell(socket);
    socket.destroy();
  });
  // Node's parser takes what it is given past the stream, and one piece of TCP may hold several records of TLS: then what
  // comes behind its own pause is refused (`HPE_PAUSED`). A listener has it read from the stream, which waits.
  server.on('secureConnection', (socket: TLSSocket) => socket.on('data', () => {}));
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => tell(socket, error.code));

  function tell({ authorizationError }: TLSSocket, code = 'unknown'): void {
    // A code of OpenSSL's, although its type says otherwise.
    events.handshakeFailed?.({ code: authorizationError ? String(authorizationError) : code });
  }

  async function renew(): Promise<void> {
    await tls.files.check();
    if (tls.files.held === taken) return;
    taken = tls.files.held;
    server.setSecureContext(contextOf(tls));
  }

  return {
    watchFiles() {
      timer = setInterval(renew, CHECK_MS).unref();
    },
    stop() {
      clearInterval(timer);
      for (const socket of underway.values()) socket.destroy();
    },
  };
}

function contextOf({ files, minVersion }: ListenerTls) {
  const { cert, key, ca } = files.held;
  return { cert, key, ca, minVersion, secureOptions: constants.SSL_OP_NO_RENEGOTIATION };
}

function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return [remoteAddress, remotePort, localAddress, localPort].join(' ');
}
