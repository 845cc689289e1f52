import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { GatewayError, type GatewayErrorFacts } from '../../kernel/errors.ts';
import { loadTls } from '../../kernel/node-http.ts';
import { isOutOfResources, nodeCodeOf, PASSING, TLS_FAILURE } from './exchange-errors.ts';

export interface UpstreamTls {
  /** Files that may change. */
  readonly files: {
    /** Returns their latest usable content: a new object after each change. */
    current(signal: AbortSignal): Promise<TlsIdentity>;
  };
  /** Name that the upstream's certificate must be for. @default the host of its URL */
  readonly serverName?: string | undefined;
}

export interface TlsIdentity {
  readonly cert?: Buffer | undefined;
  readonly key?: Buffer | undefined;
  /** @default the authorities that Node trusts */
  readonly ca?: Buffer | undefined;
}

export interface ProxyOptions {
  readonly url: string;
  /** Value of `Proxy-Authorization`. @default none is sent */
  readonly authorize?: (() => string) | undefined;
}

export interface ConnectorOptions {
  /** Bound on a TCP connect with its TLS handshake, and on the tunnel through a proxy. */
  readonly timeoutMs: number;
  readonly allowH2: boolean;
  /** @default Node's own authorities, and no certificate */
  readonly identity?: TlsIdentity | undefined;
  readonly serverName?: string | undefined;
  /** @default connections are direct */
  readonly proxy?: ProxyOptions | undefined;
}

/**
 * Loads undici when the first connection is opened rather than at the start of the process: its index takes about 35 ms of
 * processor time (docs/decisions/0041).
 */
export function loadUndici(): typeof import('undici') {
  return createRequire(import.meta.url)('undici');
}

/** Creates what opens connections for undici's clients. A new connector has no TLS sessions to resume. */
export function createConnector(options: ConnectorOptions): buildConnector.connector {
  const { timeoutMs, allowH2, identity, serverName, proxy } = options;
  const open = loadUndici().buildConnector({
    allowH2,
    timeout: timeoutMs,
    ...(identity && { secureContext: loadTls().createSecureContext({ ...identity }) }),
    ...(serverName && { servername: serverName }),
  });
  if (proxy === undefined) return open;
  return (target, callback) => {
    openTunnel(proxy, target, timeoutMs).then(
      (tunnel) => {
        if (target.protocol === 'https:') open({ ...target, httpSocket: tunnel }, callback);
        else callback(null, tunnel);
      },
      (error) => callback(error, null),
    );
  };
}

/**
 * Opens a tunnel with `CONNECT` (RFC 9110, section 9.3.6), over a connection of its own to the proxy. undici's `ProxyAgent` does
 * the same, but hides which connection a response belongs to, and the status of a refusal is only in the text of its error.
 */
async function openTunnel(proxy: ProxyOptions, target: buildConnector.Options, timeoutMs: number): Promise<Socket> {
  const { url, authorize } = proxy;
  const { Client } = loadUndici();
  const client = new Client(new URL(url).origin, { connect: { timeout: timeoutMs, allowH2: false } });
  const path = authorityOf(target);
  const headers = { host: path, ...(authorize && { 'proxy-authorization': authorize() }) };
  try {
    const { statusCode, socket } = await client.connect({ path, headers, signal: AbortSignal.timeout(timeoutMs) });
    // Listens until TLS or a request does.
    socket.on('error', () => {});
    if (statusCode >= 200 && statusCode < 300) return socket as Socket;
    socket.destroy();
    throw refused(statusCode);
  } catch (error) {
    throw errorOfTunnel(error);
  } finally {
    client.destroy();
  }
}

function authorityOf({ hostname, port, protocol }: buildConnector.Options): string {
  const host = hostname.includes(':') && !hostname.startsWith('[') ? `[${hostname}]` : hostname;
  return `${host}:${port || (protocol === 'https:' ? 443 : 80)}`;
}

const DETAIL =
  'The proxy refused the connection to the platform. Trying again is unlikely to help. The operator of Portico finds the reason in the log, by the requestId.';

function refused(status: number): GatewayError {
  if (status === 407) return failed({ reason: 'the proxy rejected the configured credential (407)' });
  return failed({
    reason: `the proxy opened no tunnel: status ${status}`,
    ...(PASSING.includes(status) && { retryable: 'connect' }),
  });
}

/** Facts by the `code` or name of the error of Node or undici. The first match counts. */
const FAILURES: readonly (readonly [RegExp, GatewayErrorFacts])[] = [
  [/^E(CONNREFUSED|TIMEDOUT|(HOST|NET)(UNREACH|DOWN))$/, { reason: 'the proxy was not reached', retryable: 'connect' }],
  [/^(ENOTFOUND|EAI_[A-Z]+)$/, { reason: 'the host name of the proxy was not resolved', retryable: 'connect' }],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, { reason: 'the proxy closed the connection', retryable: 'connect' }],
  [/^(HTTPParserError|UND_ERR_HEADERS_OVERFLOW)$/, { reason: 'the proxy does not answer in HTTP' }],
  [TLS_FAILURE, { reason: 'TLS to the proxy was not established' }],
];

function errorOfTunnel(error: unknown): unknown {
  if (error instanceof GatewayError || isOutOfResources(error)) return error;
  const code = nodeCodeOf(error);
  if (/^(TimeoutError|UND_ERR_CONNECT_TIMEOUT)$/.test(code)) {
    const reason = 'the proxy opened no tunnel in time';
    return new GatewayError('upstream_timeout', { reason, retryable: 'connect', countsForBreaker: true, cause: error });
  }
  const [, facts] = FAILURES.find(([pattern]) => pattern.test(code)) ?? [];
  return failed({ reason: 'the proxy opened no tunnel', ...facts, cause: error });
}

function failed(facts: GatewayErrorFacts): GatewayError {
  return new GatewayError('upstream_failed', { detail: DETAIL, countsForBreaker: true, ...facts });
}
