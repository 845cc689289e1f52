import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { GatewayError, type GatewayErrorFacts } from '../../kernel/errors.ts';
import { isOutOfDescriptors } from './descriptors.ts';
import { createOpener } from './opener.ts';
import { undici, wholeUndici } from './undici.ts';

/** The proxy that stands between Portico and an upstream. */
export interface ProxyOptions {
  /** Its origin. */
  readonly url: string;
  /** Value of `Proxy-Authorization`. @default none is sent */
  readonly authorize?: (() => string) | undefined;
}

/** Ways through a proxy. */
export interface Tunnels {
  /**
   * A connection to the host of these options, which nobody but that host reads (RFC 9110, section 9.3.6). Rejects with a
   * {@link GatewayError} where the proxy is to blame, and with the signal's reason once it aborts.
   */
  open(target: buildConnector.Options, signal: AbortSignal): Promise<Socket>;
}

/** What callers are told. */
const BARRED =
  "The way to the platform is barred. Trying again seldom helps. Portico's operator finds why by the requestId in the log.";

/** Opens tunnels by `CONNECT`: one connection to the proxy for each. */
export function createTunnels({ url, authorize }: ProxyOptions): Tunnels {
  const { origin } = new URL(url);
  const open = createOpener({ allowH2: false });
  const { Client } = wholeUndici();

  async function connect(target: buildConnector.Options, signal: AbortSignal): Promise<Socket> {
    const client = new Client(origin, {
      // Else a request that is given up leaves its connection to itself, and Portico has a timer for both.
      connect(options, callback) {
        open(options, signal).then(
          (socket) => callback(null, socket),
          (error) => callback(error, null),
        );
      },
      headersTimeout: 0,
      bodyTimeout: 0,
      allowH2: false,
    });
    try {
      const host = authorityOf(target);
      const headers = { host, ...(authorize && { 'proxy-authorization': authorize() }) };
      const { statusCode, socket } = await client.connect({ path: host, headers, signal });
      // Nobody else listens until TLS, or a request, does.
      socket.on('error', () => {});
      if (statusCode >= 200 && statusCode < 300) return socket as Socket;
      socket.destroy();
      throw refused(statusCode);
    } finally {
      client.destroy();
    }
  }

  return {
    open: (target, signal) =>
      connect(target, signal).catch((error) => {
        throw errorOf(error, signal);
      }),
  };
}

/** Host and port, as `CONNECT` names them. */
function authorityOf({ hostname, port, protocol }: buildConnector.Options): string {
  const host = hostname.includes(':') && !hostname.startsWith('[') ? `[${hostname}]` : hostname;
  return `${host}:${port || (protocol === 'https:' ? 443 : 80)}`;
}

function refused(status: number): GatewayError {
  if (status === 407) return failed({ reason: 'the proxy does not accept the credential in settings (407)' });
  const passing = status === 502 || status === 503 || status === 504;
  return failed({
    reason: `the proxy opened no tunnel: it answered with status ${status}`,
    ...(passing && { retryable: 'connect' }),
  });
}

/** By the `code` of Node's or undici's error, or its name. The first row that fits counts. */
const BROKEN: readonly (readonly [RegExp, GatewayErrorFacts])[] = [
  [/^E(CONNREFUSED|TIMEDOUT|(HOST|NET)(UNREACH|DOWN))$/, { reason: 'the proxy was not reached', retryable: 'connect' }],
  [/^(ENOTFOUND|EAI_[A-Z]+)$/, { reason: 'the host name of the proxy was not resolved', retryable: 'connect' }],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, { reason: 'the proxy broke off the connection', retryable: 'connect' }],
  [/^(HTTPParserError|UND_ERR_HEADERS_OVERFLOW)$/, { reason: 'the proxy does not answer in HTTP' }],
  [
    /^(EPROTO$|CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)/,
    { reason: 'TLS to the proxy was not established' },
  ],
];

function errorOf(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) {
    const isLate = signal.reason instanceof undici.errors.ConnectTimeoutError;
    const facts = { reason: 'the proxy opened no tunnel in time', retryable: 'connect', fault: true } as const;
    return isLate ? new GatewayError('upstream_timeout', { ...facts, cause: signal.reason }) : signal.reason;
  }
  if (error instanceof GatewayError || isOutOfDescriptors(error)) return error;
  const { code, name } = error as NodeJS.ErrnoException;
  const [, facts] = BROKEN.find(([pattern]) => pattern.test(code ?? name)) ?? [];
  return failed({ reason: 'the proxy opened no tunnel', ...facts, cause: error });
}

function failed(facts: GatewayErrorFacts): GatewayError {
  return new GatewayError('upstream_failed', { detail: BARRED, fault: true, ...facts });
}
