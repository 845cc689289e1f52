import type { Authenticate } from '../credentials/authenticate.ts';
import { GatewayError } from '../kernel/errors.ts';
import type { Events, ListenerRef } from '../kernel/events.ts';
import { createApp } from './app.ts';
import { createHttpServer, type ServerSettings } from './connection/server.ts';
import { type Operation, openOperation, unstored } from './operations/operation.ts';
import { type ReadsOptions, readOperations } from './operations/reads.ts';
import { type RpcOptions, rpcOperation, rpcStreamOperation } from './operations/rpc.ts';
import { type AdmitOptions, createAdmit } from './request/admit.ts';
import { createHeldBytes } from './request/incoming-body.ts';
import { NO_REQUEST_HOOKS } from './request-hooks.ts';
import { createChallenge, type TokenSource } from './response/problem.ts';
import { createUnreadResponses } from './response/unread.ts';
import type { Service } from './routes.ts';

export interface PublicListenerSettings extends ServerSettings {
  readonly allowedHosts?: readonly string[] | undefined;
  readonly acceptsAnyHost?: boolean | undefined;
  readonly publicUrl?: string | undefined;
  readonly allowedOrigins: readonly string[];
  readonly trustedProxies: readonly string[];
  readonly maxHeldBodyBytes: number;
  readonly compressMinBytes: number;
}

export interface PublicEdgeOptions
  extends Omit<ReadsOptions, 'compressMinBytes' | 'selectingHeaders'>,
    Pick<Service, 'authenticate' | 'hooks' | 'users'> {
  readonly settings: PublicListenerSettings;
  /** @default none */
  readonly operations?: readonly Operation[];
  readonly events: Events;
  /** Upper bound of a read. */
  readonly readDeadlineMs: number;
  readonly isDraining: () => boolean;
  /** Where clients obtain tokens. @default no client can */
  readonly tokenSource?: TokenSource | undefined;
  /** Headers beside `Authorization` in which callers send credentials. @default none */
  readonly credentialHeaders?: readonly string[] | undefined;
  /** Further headers of callers that select a list. @default none */
  readonly forwardedHeaders?: readonly string[] | undefined;
  /** MCP over HTTP. @default off */
  readonly rpc?: Omit<RpcOptions, 'heldBytes' | 'selectingHeaders'> | undefined;
}

export const ADMIN_BOUNDS = {
  maxUrlBytes: 1024,
  maxHeaderBytes: 8192,
  headersTimeoutMs: 5000,
  requestTimeoutMs: 5000,
  keepAliveTimeoutMs: 65_000,
  sendTimeoutMs: 5000,
  maxConnections: 100,
  maxPipelinedWaiting: 1000,
  // Metrics can take a megabyte, if callers try every path, method and error.
  maxUnsentBytes: 16_777_216,
};

/** The service of a listener by its settings. */
interface Served extends Omit<Service, 'admit' | 'ending' | 'sendTimeoutMs'> {
  readonly admission: Omit<AdmitOptions, 'maxUrlBytes' | 'maxHeaderBytes' | 'address'>;
  readonly inactivityMs: number;
}

export type Edge<Options> = ReturnType<typeof createEdge<Options>>;

/** A Koa application and the server that it stands behind. `first`, and the core that it refers to, is not kept. */
function createEdge<Options>(
  { listener, settings, events }: ListenerRef & { readonly settings: ServerSettings; readonly events: Events },
  servedBy: (options: Options) => Served,
  first: Options,
) {
  let streams = new AbortController();
  const serviceOf = ({ admission, ...served }: Omit<Served, 'inactivityMs'>): Service => ({
    ...served,
    ending: streams.signal,
    sendTimeoutMs: settings.sendTimeoutMs,
    admit: createAdmit({
      ...settings,
      ...admission,
      address: () => server.address(),
    }),
  });
  const { inactivityMs, ...served } = servedBy(first);
  const { app, change } = createApp(serviceOf(served), {
    events,
    unread: createUnreadResponses(settings.maxUnsentBytes, events),
  });
  const server = createHttpServer({ listener, settings, events, inactivityMs }, app.callback());
  return {
    app,
    listen: server.listen,
    /** Applies to requests that begin from now on. Host, port and bounds of connections stay. */
    change(options: Options): void {
      const next = servedBy(options);
      // Ends streams, so that their clients subscribe to the new service.
      streams.abort();
      streams = new AbortController();
      change(serviceOf(next));
      server.setInactivity(next.inactivityMs);
    },
    /** Gives requests in flight `graceMs` to finish. Resolves with whether every response was sent completely. */
    drain(graceMs: number): Promise<boolean> {
      streams.abort();
      return server.drain(graceMs);
    },
  };
}

/** Creates the public listener: the two reads, JSON-RPC, the probes, and endpoints of capabilities. */
export function createPublicEdge(first: PublicEdgeOptions): Edge<PublicEdgeOptions> {
  const { settings, events, isDraining } = first;
  const heldBytes = createHeldBytes(settings.maxHeldBodyBytes);
  function served({ rpc, tokenSource, ...options }: PublicEdgeOptions): Served {
    const { authenticate, hooks, users, credentialHeaders = [], forwardedHeaders = [] } = options;
    const selectingHeaders = [...credentialHeaders, ...forwardedHeaders];
    // Some hosts (mcpo until 2026) and people add a slash to the address, and clients follow no redirect.
    const posted = rpc ? [rpc.path, `${rpc.path}/`].map((path) => ({ ...rpc, path, heldBytes, selectingHeaders })) : [];
    return {
      admission: options.settings,
      authenticate,
      credentialHeaders: new Set(credentialHeaders.map((name) => name.toLowerCase())),
      forwardedHeaders: forwardedHeaders.map((name) => name.toLowerCase()),
      hooks,
      challenge: createChallenge(tokenSource),
      users,
      // A connection may be silent for as long as a read takes.
      inactivityMs: options.readDeadlineMs + settings.sendTimeoutMs,
      operations: [
        ...readOperations({ ...options, ...options.settings, selectingHeaders }),
        ...posted.flatMap((each) => [rpcOperation(each), rpcStreamOperation(each)]),
        ...probeOperations(isDraining),
        ...(options.operations ?? []),
      ],
    };
  }

  return createEdge({ listener: 'http', settings, events }, served, first);
}

export interface AdminEdgeOptions {
  readonly settings: Pick<ServerSettings, 'host' | 'port' | 'socketPath' | 'tls'> & {
    readonly allowedHosts?: readonly string[] | undefined;
  };
  readonly authenticate: Authenticate;
  readonly events: Events;
  readonly isDraining: () => boolean;
  /** @default none */
  readonly operations?: readonly Operation[];
}

/** Creates the admin listener: probes and endpoints of capabilities, no reads. */
export function createAdminEdge(first: AdminEdgeOptions): Edge<AdminEdgeOptions> {
  const { allowedHosts, ...settings } = first.settings;
  const served = ({ authenticate, isDraining, operations = [] }: AdminEdgeOptions): Served => ({
    admission: { allowedHosts, allowedOrigins: [] },
    authenticate,
    credentialHeaders: new Set(),
    forwardedHeaders: [],
    hooks: NO_REQUEST_HOOKS,
    inactivityMs: ADMIN_BOUNDS.sendTimeoutMs,
    operations: [...probeOperations(isDraining), ...operations],
  });
  const { events } = first;
  return createEdge({ listener: 'admin', settings: { ...ADMIN_BOUNDS, ...settings }, events }, served, first);
}

const OK = unstored('{"status":"ok"}');

/** Probes do not depend on upstreams: restarting Portico repairs none. */
function probeOperations(isDraining: () => boolean): readonly Operation[] {
  const ready = () => {
    if (isDraining()) throw new GatewayError('draining');
    return OK;
  };
  return [openOperation('/livez', () => OK, { isProbe: true }), openOperation('/readyz', ready, { isProbe: true })];
}
