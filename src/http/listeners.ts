import type { Authenticate } from '../credentials/authenticate.ts';
import type { Events } from '../observability/events.ts';
import type { ConnectionBounds } from './connection/connections.ts';
import type { ListenerSettings } from './connection/listener.ts';
import { createEdge, type Edge } from './edge.ts';
import { createLimits, type LimitSettings } from './limits/limits.ts';
import { createOverload } from './limits/overload.ts';
import { DESCRIPTION_PATH, descriptionOperation } from './operations/description.ts';
import { landingOperation } from './operations/landing.ts';
import { probeOperations } from './operations/probes.ts';
import { LIST_PATH, type ReadsOptions, readOperations } from './operations/reads.ts';
import { type RpcOptions, rpcOperation } from './operations/rpc.ts';
import { createHeldBytes } from './request/held-bytes.ts';

/** Settings of the public listener. */
export interface HttpSettings extends ListenerSettings, ConnectionBounds {
  readonly allowedHosts?: readonly string[] | undefined;
  readonly allowedOrigins: readonly string[];
  /** Whose word is taken for the address that a request came from: addresses, networks, `unix`. */
  readonly trustedProxies: readonly string[];
  /** Bytes of request bodies that are held at once. */
  readonly maxHeldBodyBytes: number;
  /** How late the event loop may be. 0: however late. */
  readonly maxEventLoopDelayMs: number;
  readonly compressMinBytes: number;
}

export interface PublicEdgeOptions extends Omit<ReadsOptions, 'compressMinBytes'> {
  readonly settings: HttpSettings;
  /** They hold for what needs a caller. */
  readonly limits: LimitSettings;
  readonly authenticate: Authenticate;
  /** Whether `/readyz` is to say 503. */
  readonly isDraining: () => boolean;
  /** JSON-RPC, where it is answered here. */
  readonly rpc?: Omit<RpcOptions, 'heldBytes' | 'limits'> | undefined;
}

/** Nobody tunes the listener of the operations: these fit any probe. */
const ADMIN_BOUNDS = {
  maxUrlBytes: 1024,
  maxHeaderBytes: 8192,
  headersTimeoutMs: 5000,
  requestTimeoutMs: 5000,
  keepAliveTimeoutMs: 65_000,
  sendTimeoutMs: 5000,
  maxConnections: 100,
  maxPipelined: 4,
  maxPipelinedWaiting: 1000,
  maxConnectionUnsentBytes: 65_536,
  maxUnsentBytes: 1_048_576,
};

/** The public listener: the two reads with their description, JSON-RPC, a page, and the probes. */
export function createPublicEdge(options: PublicEdgeOptions): Edge {
  const { settings, authenticate, events, readDeadlineMs, isDraining, rpc } = options;
  const limits = createLimits({ ...options.limits, trustedProxies: settings.trustedProxies });
  return createEdge({
    settings,
    limits,
    overload: createOverload(settings.maxEventLoopDelayMs),
    // So long may a connection be silent before its response is begun.
    inactivityMs: readDeadlineMs + settings.sendTimeoutMs,
    authenticate,
    events,
    operations: [
      ...readOperations({ ...options, compressMinBytes: settings.compressMinBytes }),
      descriptionOperation(options.catalogue),
      landingOperation({
        offered: options.catalogue.offered,
        paths: { list: LIST_PATH, description: DESCRIPTION_PATH },
        mcpPath: rpc?.path,
      }),
      ...(rpc === undefined
        ? []
        : [rpcOperation({ ...rpc, limits, heldBytes: createHeldBytes(settings.maxHeldBodyBytes) })]),
      ...probeOperations(isDraining),
    ],
  });
}

export interface AdminEdgeOptions {
  readonly settings: Pick<ListenerSettings, 'host' | 'port'>;
  readonly authenticate: Authenticate;
  readonly events: Events;
  /** Whether the public listener is on its way down. */
  readonly isDraining: () => boolean;
}

/** The admin listener: operations only, never a read. */
export function createAdminEdge({ settings, authenticate, events, isDraining }: AdminEdgeOptions): Edge {
  return createEdge({
    settings: { ...ADMIN_BOUNDS, ...settings, allowedOrigins: [] },
    inactivityMs: ADMIN_BOUNDS.sendTimeoutMs,
    authenticate,
    events,
    operations: probeOperations(isDraining),
  });
}
