import type { Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { buildConnector } from 'undici';
import { createProxyTunnel, type ProxyOptions } from './proxy-tunnel.ts';
import { loadUndici } from './undici.ts';

/** TLS of the connections to an upstream. */
export interface UpstreamTls {
  /** Files that may change. */
  readonly files: {
    /** Their latest usable content: a new object after each change. */
    readonly held: TlsIdentity;
    /** Reads them again if they have changed. Never rejects. */
    check(): Promise<void>;
  };
  /** Name that the upstream's certificate must be for. @default the host of its URL */
  readonly serverName?: string | undefined;
}

interface TlsIdentity {
  readonly cert?: Buffer | undefined;
  readonly key?: Buffer | undefined;
  /** @default the authorities that Node trusts */
  readonly ca?: Buffer | undefined;
}

export interface ConnectorOptions {
  /** Bound on a TCP connect with its TLS handshake, and on the tunnel through a proxy. */
  readonly timeoutMs: number;
  readonly allowH2: boolean;
  /** @default Node's own authorities, and no certificate */
  readonly tls?: UpstreamTls | undefined;
  /** @default connections are direct */
  readonly proxy?: ProxyOptions | undefined;
}

/** Creates what opens connections for undici's clients. */
export function createConnector({ timeoutMs, allowH2, tls, proxy }: ConnectorOptions): buildConnector.connector {
  const { buildConnector } = loadUndici();
  const openTunnel = proxy && createProxyTunnel(proxy, timeoutMs);
  let identity: TlsIdentity | undefined;
  let open = createOpen();

  /** A new connector has no TLS sessions to resume, so that none bypasses files that have changed. */
  function createOpen(): buildConnector.connector {
    identity = tls?.files.held;
    if (tls === undefined) return buildConnector({ allowH2, timeout: timeoutMs });
    const secureContext = createSecureContext({ ...identity });
    const name = tls.serverName && { servername: tls.serverName };
    return buildConnector({ allowH2, timeout: timeoutMs, secureContext, ...name });
  }

  async function prepare(target: buildConnector.Options): Promise<Socket | undefined> {
    await tls?.files.check();
    if (identity !== tls?.files.held) open = createOpen();
    return openTunnel?.(target);
  }

  return (target, callback) => {
    prepare(target).then(
      (tunnel) => {
        if (tunnel === undefined) open(target, callback);
        else if (target.protocol === 'https:') open({ ...target, httpSocket: tunnel }, callback);
        else callback(null, tunnel);
      },
      (error) => callback(error, null),
    );
  };
}
