import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { GatewayError, type GatewayErrorFacts } from '../../kernel/errors.ts';
import { isOutOfResources, nodeCodeOf } from './exchange-errors.ts';
import { loadUndici } from './undici.ts';

/** The HTTP proxy between Portico and an upstream. */
export interface ProxyOptions {
  /** Its origin. */
  readonly url: string;
  /** Value of `Proxy-Authorization`. @default none is sent */
  readonly authorize?: (() => string) | undefined;
}

/** Opens a connection to a host through a proxy. Rejects with a {@link GatewayError} if the proxy fails. */
export type OpenTunnel = (target: buildConnector.Options) => Promise<Socket>;

const DETAIL =
  "The proxy refused the connection to the platform. Trying again seldom helps. Portico's operator finds the reason in the log by the requestId.";

/**
 * Opens tunnels with `CONNECT` (RFC 9110, section 9.3.6), one connection to the proxy for each. undici's `ProxyAgent` does the
 * same, but hides which connection a response belongs to, and the status of a refusal is only in the text of its error.
 */
export function createProxyTunnel({ url, authorize }: ProxyOptions, timeoutMs: number): OpenTunnel {
  const { Client } = loadUndici();
  const { origin } = new URL(url);
  return async (target) => {
    const client = new Client(origin, { connect: { timeout: timeoutMs, allowH2: false } });
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
  };
}

/** Host and port in the form that `CONNECT` requires. */
function authorityOf({ hostname, port, protocol }: buildConnector.Options): string {
  const host = hostname.includes(':') && !hostname.startsWith('[') ? `[${hostname}]` : hostname;
  return `${host}:${port || (protocol === 'https:' ? 443 : 80)}`;
}

function refused(status: number): GatewayError {
  if (status === 407) return failed({ reason: 'the proxy does not accept the credential in settings (407)' });
  const isPassing = status === 502 || status === 503 || status === 504;
  return failed({
    reason: `the proxy opened no tunnel: it answered with status ${status}`,
    ...(isPassing && { retryable: 'connect' }),
  });
}

/** Facts by the `code` or name of the error of Node or undici. The first match counts. */
const FAILURES: readonly (readonly [RegExp, GatewayErrorFacts])[] = [
  [/^E(CONNREFUSED|TIMEDOUT|(HOST|NET)(UNREACH|DOWN))$/, { reason: 'the proxy was not reached', retryable: 'connect' }],
  [/^(ENOTFOUND|EAI_[A-Z]+)$/, { reason: 'the host name of the proxy was not resolved', retryable: 'connect' }],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, { reason: 'the proxy closed the connection', retryable: 'connect' }],
  [/^(HTTPParserError|UND_ERR_HEADERS_OVERFLOW)$/, { reason: 'the proxy does not answer in HTTP' }],
  [
    /^(EPROTO$|CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)/,
    { reason: 'TLS to the proxy was not established' },
  ],
];

function errorOfTunnel(error: unknown): unknown {
  if (error instanceof GatewayError || isOutOfResources(error)) return error;
  const code = nodeCodeOf(error);
  if (/^(TimeoutError|UND_ERR_CONNECT_TIMEOUT)$/.test(code)) {
    const reason = 'the proxy opened no tunnel in time';
    return new GatewayError('upstream_timeout', { reason, retryable: 'connect', fault: true, cause: error });
  }
  const [, facts] = FAILURES.find(([pattern]) => pattern.test(code)) ?? [];
  return failed({ reason: 'the proxy opened no tunnel', ...facts, cause: error });
}

function failed(facts: GatewayErrorFacts): GatewayError {
  return new GatewayError('upstream_failed', { detail: DETAIL, fault: true, ...facts });
}
