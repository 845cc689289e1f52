import type { Authenticate } from '../credentials/authenticate.ts';
import { GatewayError } from '../kernel/errors.ts';
import type { Events } from '../kernel/events.ts';
import type { ConnectionBounds } from './connection/connections.ts';
import type { ListenerSettings } from './connection/listener.ts';
import { hstsHeaders, type ListenerTls } from './connection/secure.ts';
import { createEdge, type Edge, type Service } from './edge.ts';
import { NO_REQUEST_HOOKS } from './handler.ts';
import { type OpenOperation, type Operation, openOperation, unstored } from './operations/operation.ts';
import { type ReadsOptions, readOperations } from './operations/reads.ts';
import { type RpcOptions, rpcOperation, rpcStreamOperation } from './operations/rpc.ts';
import { createHeldBytes } from './request/incoming-body.ts';
import { createChallenge, type TokenSource } from './response/problem.ts';

export interface HttpSettings extends ListenerSettings, ConnectionBounds {
  readonly tls?: (ListenerTls & { readonly hstsMaxAgeDays: number }) | undefined;
  readonly allowedHosts?: readonly string[] | undefined;
  /** Answers for unlisted names, on an address that is not loopback. @default false */
  readonly takesAnyName?: boolean | undefined;
  readonly publicUrl?: string | undefined;
  readonly allowedOrigins: readonly string[];
  readonly trustedProxies: readonly string[];
  readonly maxHeldBodyBytes: number;
  readonly compressMinBytes: number;
}

export interface PublicEdgeOptions
  extends Omit<ReadsOptions, 'compressMinBytes'>,
    Pick<Service, 'authenticate' | 'hooks' | 'users'> {
  readonly settings: HttpSettings;
  /** @default none */
  readonly operations?: readonly Operation[];
  readonly isDraining: () => boolean;
  /** Where clients obtain tokens. @default no client can */
  readonly tokenSource?: TokenSource | undefined;
  /** MCP over HTTP. @default off */
  readonly rpc?: Omit<RpcOptions, 'heldBytes' | 'otherCredentials'> | undefined;
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

/** A listener whose options can be replaced while it is open. */
export interface ChangingEdge<Options> extends Edge {
  /** Applies to requests that begin from now on. Host, port and bounds of connections stay. */
  change(options: Options): void;
}

/** Creates the public listener: the two reads, JSON-RPC, the probes, and endpoints of capabilities. */
export function createPublicEdge(first: PublicEdgeOptions): ChangingEdge<PublicEdgeOptions> {
  // The rest of `first` is not captured: it refers to a core, which must be collected after a reload.
  const { settings, events, isDraining } = first;
  const heldBytes = createHeldBytes(settings.maxHeldBodyBytes);
  function serviceOf({ rpc, tokenSource, ...options }: PublicEdgeOptions): Service {
    const { hooks, otherCredentials } = options;
    const posted = rpc && { ...rpc, heldBytes, otherCredentials };
    return {
      ...options.settings,
      authenticate: options.authenticate,
      otherCredentials: lowerCaseSet(otherCredentials),
      hooks,
      challenge: createChallenge(tokenSource),
      users: options.users,
      // A connection may be silent for as long as a read takes.
      inactivityMs: options.readDeadlineMs + settings.sendTimeoutMs,
      operations: [
        ...readOperations({ ...options, ...options.settings }),
        ...(posted === undefined ? [] : [rpcOperation(posted), rpcStreamOperation(posted)]),
        ...probeOperations(isDraining),
        ...(options.operations ?? []),
      ],
    };
  }

  const headers = settings.tls && hstsHeaders(settings.host, settings.tls.hstsMaxAgeDays);
  const edge = createEdge({
    listener: 'http',
    settings,
    events,
    headers,
    service: serviceOf(first),
  });
  return { ...edge, change: (options) => edge.serve(serviceOf(options)) };
}

export interface AdminEdgeOptions {
  readonly settings: Pick<ListenerSettings, 'host' | 'port' | 'socketPath' | 'tls'> & {
    /** Hosts beside addresses and loopback names. @default none */
    readonly allowedHosts?: readonly string[] | undefined;
  };
  readonly authenticate: Authenticate;
  readonly events: Events;
  readonly isDraining: () => boolean;
  /** @default none */
  readonly operations?: readonly Operation[];
}

/** Creates the admin listener: probes and endpoints of capabilities, no reads. */
export function createAdminEdge({
  settings: first,
  events,
  ...options
}: AdminEdgeOptions): ChangingEdge<AdminEdgeOptions> {
  const { allowedHosts: alsoHosts, ...settings } = first;
  const serviceOf = ({ authenticate, isDraining, operations = [] }: Omit<AdminEdgeOptions, 'settings' | 'events'>) => ({
    hooks: NO_REQUEST_HOOKS,
    alsoHosts,
    allowedOrigins: [],
    authenticate,
    inactivityMs: ADMIN_BOUNDS.sendTimeoutMs,
    operations: [...probeOperations(isDraining), ...operations],
  });
  const edge = createEdge({
    listener: 'admin',
    settings: { ...ADMIN_BOUNDS, ...settings },
    events,
    service: serviceOf(options),
  });
  return { ...edge, change: (changed) => edge.serve(serviceOf(changed)) };
}

function lowerCaseSet(names: readonly string[] = []): ReadonlySet<string> | undefined {
  return names.length === 0 ? undefined : new Set(names.map((name) => name.toLowerCase()));
}

const OK = unstored('{"status":"ok"}');

/** They do not depend on upstreams: restarting Portico repairs none. */
function probeOperations(isDraining: () => boolean): readonly OpenOperation[] {
  const ready = () => {
    if (isDraining()) throw new GatewayError('draining');
    return OK;
  };
  return [openOperation('/livez', () => OK, { isProbe: true }), openOperation('/readyz', ready, { isProbe: true })];
}
