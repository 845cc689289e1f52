import { constants } from 'node:crypto';
import type { Server, ServerOptions } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { TlsFiles } from '../../credentials/files/tls-files.ts';
import type { Events } from '../../kernel/events.ts';

export interface ListenerTls {
  /** Files with the authorities of client certificates, if any. */
  readonly files: TlsFiles;
}

const CHECK_MS = 1000;

/** Creates an HTTPS server. `handshakeTimeout` of the options is in milliseconds. */
export function createSecureServer(tls: ListenerTls, options: ServerOptions): Server {
  const requestsCertificate = tls.files.held.ca !== undefined;
  return process.getBuiltinModule('node:https').createServer({
    ...options,
    ...contextOf(tls),
    ALPNProtocols: ['http/1.1'],
    requestCert: requestsCertificate,
    rejectUnauthorized: requestsCertificate,
    // As in node:http. Otherwise a FIN of the client would end a response that is being sent.
    allowHalfOpen: true,
    noDelay: true,
  });
}

export function createHandshakes(server: Server, tls: ListenerTls, events: Events) {
  let current = tls.files.held;
  let timer: NodeJS.Timeout | undefined;

  // Node's parser bypasses the stream, and one TCP segment may hold several TLS records: the ones behind a pause of the parser
  // are rejected (`HPE_PAUSED`). With a listener for data it reads from the stream, which can be paused.
  server.on('secureConnection', (socket: TLSSocket) => socket.on('data', () => {}));
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => emitFailure(socket, error.code));

  function emitFailure({ authorizationError }: TLSSocket, code = 'unknown'): void {
    // A code of OpenSSL, despite its type.
    events.handshakeFailed?.({ code: authorizationError ? String(authorizationError) : code });
  }

  async function renew(): Promise<void> {
    await tls.files.check();
    if (tls.files.held === current) return;
    current = tls.files.held;
    server.setSecureContext(contextOf(tls));
  }

  return {
    /** Reloads certificates when their files change. Open connections keep theirs. */
    watchFiles() {
      timer = setInterval(renew, CHECK_MS).unref();
    },
    stop: () => clearInterval(timer),
  };
}

function contextOf({ files }: ListenerTls) {
  const { cert, key, ca } = files.held;
  return { cert, key, ca, secureOptions: constants.SSL_OP_NO_RENEGOTIATION };
}
