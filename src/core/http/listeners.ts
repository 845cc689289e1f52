import type { Authenticate } from '../credentials/authenticate.ts';
import type { Events } from '../kernel/events.ts';
import type { ConnectionBounds } from './connection/connections.ts';
import type { ListenerSettings } from './connection/listener.ts';
import { hstsHeaders, type ListenerTls } from './connection/secure.ts';
import { createEdge, type Edge, type Service } from './edge.ts';
import { NO_REQUEST_HOOKS } from './handler.ts';
import { type OpenOperation, type Operation, unknownPath } from './operations/operation.ts';
import { probeOperations } from './operations/probes.ts';
import { type ReadsOptions, readOperations } from './operations/reads.ts';
import { type RpcOptions, rpcOperation, rpcStreamOperation } from './operations/rpc.ts';
import { createClientAddress } from './request/client-address.ts';
import { createHeldBytes } from './request/incoming-body.ts';
import { createChallenge, type TokenSource } from './response/problem.ts';

/** Settings of the public listener. */
export interface HttpSettings extends ListenerSettings, ConnectionBounds {
  readonly tls?: (ListenerTls & { readonly hstsMaxAgeDays: number }) | undefined;
  readonly allowedHosts?: readonly string[] | undefined;
  /** Whether names that are not listed are answered for, where it is not on loopback. @default false */
  readonly takesAnyName?: boolean | undefined;
  /** Where clients find this server. */
  readonly publicUrl?: string | undefined;
  readonly allowedOrigins: readonly string[];
  /** Whose word is taken for the address that a request came from: addresses, networks, `unix`. */
  readonly trustedProxies: readonly string[];
  /** Bytes of request bodies that are held at once. */
  readonly maxHeldBodyBytes: number;
  readonly compressMinBytes: number;
}

export interface PublicEdgeOptions
  extends Omit<ReadsOptions, 'compressMinBytes'>,
    Pick<Service, 'authenticate' | 'hooks' | 'users'> {
  readonly settings: HttpSettings;
  /** Endpoints beside those of the core; `unknown` answers a path that does not exist. @default none */
  operations?(unknown: OpenOperation): readonly Operation[];
  /** Whether `/readyz` is to say 503. */
  readonly isDraining: () => boolean;
  /** Where clients obtain tokens. @default no client can */
  readonly tokenSource?: TokenSource | undefined;
  /** JSON-RPC, where it is answered here. */
  readonly rpc?: Omit<RpcOptions, 'heldBytes' | 'spend' | 'otherCredentials'> | undefined;
}

/** Constants of the admin listener, suitable for any probe. */
export const ADMIN_BOUNDS = {
  maxUrlBytes: 1024,
  maxHeaderBytes: 8192,
  headersTimeoutMs: 5000,
  requestTimeoutMs: 5000,
  keepAliveTimeoutMs: 65_000,
  sendTimeoutMs: 5000,
  maxConnections: 100,
  maxPipelinedWaiting: 1000,
  // What metrics take is for callers to say, within closed lists: a megabyte where they try out every way to be refused.
  maxUnsentBytes: 16_777_216,
};

/** A listener that can go on under other settings. */
export interface ChangingEdge<Options> extends Edge {
  /** Answers as these options say from now on, within the bounds of the first ones. */
  change(options: Options): void;
}

/** The public listener: the two reads, JSON-RPC, the probes, and the operations of capabilities. */
export function createPublicEdge(first: PublicEdgeOptions): ChangingEdge<PublicEdgeOptions> {
  // Nothing else of the first ones is held: they lead to a core, and that to all that it has open.
  const { settings, events, isDraining } = first;
  const heldBytes = createHeldBytes(settings.maxHeldBodyBytes);
  function serviceOf({ rpc, tokenSource, ...options }: PublicEdgeOptions): Service {
    const { allowedHosts, takesAnyName, allowedOrigins, publicUrl, trustedProxies, compressMinBytes } =
      options.settings;
    const { hooks, otherCredentials } = options;
    const posted = rpc && { ...rpc, spend: hooks.spend, heldBytes, otherCredentials };
    const forCallers = [
      ...readOperations({ ...options, compressMinBytes }),
      ...(posted === undefined ? [] : [rpcOperation(posted), rpcStreamOperation(posted)]),
    ];
    const unknown = unknownPath(forCallers);
    return {
      allowedHosts,
      takesAnyName,
      allowedOrigins,
      publicUrl,
      authenticate: options.authenticate,
      otherCredentials: lowerCaseSet(otherCredentials),
      hooks,
      addressOf: createClientAddress(trustedProxies),
      challenge: createChallenge(tokenSource),
      users: options.users,
      // So long may a connection be silent before its response is begun.
      inactivityMs: options.readDeadlineMs + settings.sendTimeoutMs,
      operations: [...forCallers, ...probeOperations(isDraining), ...(options.operations?.(unknown) ?? [])],
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
    /** Hosts to answer for beside addresses and loopback names. @default none */
    readonly allowedHosts?: readonly string[] | undefined;
  };
  readonly authenticate: Authenticate;
  readonly events: Events;
  /** Whether the public listener is on its way down. */
  readonly isDraining: () => boolean;
  /** Endpoints beside those of the core. @default none */
  readonly operations?: readonly Operation[];
}

/** The admin listener: operations only, never a read. */
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

/** `undefined` where there are none: then no header is looked for. */
function lowerCaseSet(names: readonly string[] = []): ReadonlySet<string> | undefined {
  return names.length === 0 ? undefined : new Set(names.map((name) => name.toLowerCase()));
}
