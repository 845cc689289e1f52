import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { GatewayError } from '../../kernel/errors.ts';
import { loadTls } from '../../kernel/node-http.ts';
import { errorOfExchange } from './reply-errors.ts';

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

interface ConnectorOptions {
  /** Bound on a TCP connect with its TLS handshake, and on the tunnel through a proxy. */
  readonly timeoutMs: number;
  /** @default Node's own authorities, and no certificate */
  readonly identity?: TlsIdentity | undefined;
  readonly serverName?: string | undefined;
  /** @default connections are direct */
  readonly proxy?: ProxyOptions | undefined;
}

/**
 * Loads undici when the first connection is opened rather than at the start of the process: its index takes about 35 ms of
 * processor time.
 */
export function loadUndici(): typeof import('undici') {
  return createRequire(import.meta.url)('undici');
}

/** Creates what opens connections for undici's clients. A new connector has no TLS sessions to resume. */
export function createConnector(options: ConnectorOptions): buildConnector.connector {
  const { timeoutMs, identity, serverName, proxy } = options;
  const open = loadUndici().buildConnector({
    allowH2: false,
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
 * not bound the time of its tunnel, and names the status of a refusal only in the text of its error.
 */
async function openTunnel(proxy: ProxyOptions, target: buildConnector.Options, timeoutMs: number): Promise<Socket> {
  const { Client } = loadUndici();
  const client = new Client(new URL(proxy.url).origin, { connect: { timeout: timeoutMs, allowH2: false } });
  const path = authorityOf(target);
  const headers = { host: path, ...(proxy.authorize && { 'proxy-authorization': proxy.authorize() }) };
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
  const reason = `it opened no tunnel: status ${status}`;
  // 502 to 504: it could not reach the platform just now.
  return new GatewayError('upstream_failed', { reason, countsForBreaker: true, ...(status >= 502 && CONNECTING) });
}

const CONNECTING = { retryable: 'connect' } as const;

/** The error of a connection to the proxy, in the words of one to an upstream. No request was lost with it. */
function errorOfTunnel(thrown: unknown): unknown {
  const error = errorOfExchange(thrown, false);
  if (!(error instanceof GatewayError) || !error.countsForBreaker) return error;
  const { code, reason, retryable, cause } = error;
  const facts = { reason: `proxy: ${reason}`, countsForBreaker: true, cause, ...(retryable && CONNECTING) };
  return new GatewayError(code, { ...facts, ...(code === 'upstream_failed' && { detail: DETAIL }) });
}
