import type { Socket } from 'node:net';
import { createSecureContext, type SecureVersion } from 'node:tls';
import type { buildConnector } from 'undici';
import { startTimer } from '../../kernel/deadline.ts';
import { createDescriptorReserve, isOutOfDescriptors } from './descriptors.ts';
import { createOpener, type Opener } from './opener.ts';
import { createTunnels, type ProxyOptions } from './tunnels.ts';
import { undici } from './undici.ts';

/** How an upstream is known, and knows Portico, over TLS. */
export interface UpstreamTls {
  /** Files that may change. */
  readonly files: {
    /** What was taken from them last: another object, once that is something else. */
    readonly held: TlsIdentity;
    /** Looks whether they have changed, and takes what they hold then. Never rejects. */
    check(): Promise<void>;
  };
  readonly minVersion: SecureVersion;
  /** Name that its certificate must be for. @default the host that it is asked at */
  readonly serverName?: string | undefined;
}

interface TlsIdentity {
  readonly cert?: Buffer | undefined;
  readonly key?: Buffer | undefined;
  /** @default the authorities that Node knows */
  readonly ca?: Buffer | undefined;
}

export interface ConnectorOptions {
  /** How long one connection may take to open, a proxy and TLS included. */
  readonly timeoutMs: number;
  readonly allowH2: boolean;
  /** @default Node's own authorities, and no certificate */
  readonly tls?: UpstreamTls | undefined;
  /** @default connections are direct */
  readonly proxy?: ProxyOptions | undefined;
}

/** Opens connections for a pool. */
export interface Connector {
  readonly connect: buildConnector.connector;
  /** What connections are opened with: another object, once files have changed. */
  readonly identity: object | undefined;
  /** Looks whether they have. */
  checkFiles(): void;
  /** Ends the connections that are still opening, which a pool that is destroyed leaves to themselves. */
  close(): void;
}

/**
 * A connector with a timer of its own, since undici's is up to a second late, and with file descriptors that it holds back for
 * when there are no others.
 */
export function createConnector({ timeoutMs, allowH2, tls, proxy }: ConnectorOptions): Connector {
  const opening = new Set<AbortController>();
  const reserve = createDescriptorReserve();
  const tunnels = proxy && createTunnels(proxy);
  let identity: TlsIdentity | undefined;
  let open = openerNow();

  /** With it go the sessions of TLS that could be resumed: none is a way around files that have changed. */
  function openerNow(): Opener {
    identity = tls?.files.held;
    if (tls === undefined) return createOpener({ allowH2 });
    const secureContext = createSecureContext({ ...identity, minVersion: tls.minVersion });
    return createOpener({ allowH2, secureContext, ...(tls.serverName && { servername: tls.serverName }) });
  }

  async function openWith(options: buildConnector.Options, signal: AbortSignal): Promise<Socket> {
    await tls?.files.check();
    if (identity !== tls?.files.held) open = openerNow();
    const httpSocket = await tunnels?.open(options, signal);
    if (httpSocket !== undefined && options.protocol !== 'https:') return httpSocket;
    return open(httpSocket === undefined ? options : { ...options, httpSocket }, signal);
  }

  const connect: buildConnector.connector = (options, callback) => {
    const attempt = new AbortController();
    const callOff = startTimer(timeoutMs, () => attempt.abort(new undici.errors.ConnectTimeoutError()));
    opening.add(attempt);
    const ended = () => {
      callOff();
      opening.delete(attempt);
    };
    openWith(options, attempt.signal).then(
      (socket) => {
        ended();
        socket.once('close', reserve.refill);
        callback(null, socket);
      },
      (error) => {
        ended();
        if (isOutOfDescriptors(error) && reserve.release()) connect(options, callback);
        else {
          if (!isOutOfDescriptors(error)) reserve.refill();
          callback(error, null);
        }
      },
    );
  };

  return {
    connect,
    get identity() {
      return tls?.files.held;
    },
    checkFiles() {
      tls?.files.check();
    },
    close() {
      reserve.close();
      for (const attempt of opening) attempt.abort(new undici.errors.ClientDestroyedError());
    },
  };
}
