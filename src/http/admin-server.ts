import type { Logger } from '../observability/logger.ts';
import { createEdge, type HttpServer } from './edge.ts';
import { createLifecycle } from './lifecycle.ts';
import { probeRoutes } from './routes/probes.ts';
import { route } from './routes/router.ts';

/** Nobody tunes the listener of the operations: these fit any probe. */
const LIMITS = {
  maxUrlBytes: 1024,
  maxHeaderBytes: 8192,
  headersTimeoutMs: 5000,
  requestTimeoutMs: 5000,
  keepAliveTimeoutMs: 65_000,
  sendTimeoutMs: 5000,
  maxConnections: 100,
};

export interface AdminServerOptions {
  readonly settings: { readonly host: string; readonly port: number };
  readonly logger: Logger;
  /** Whether the public listener is on its way down. */
  readonly isDraining: () => boolean;
}

/** The admin listener: operations only, never a read. */
export function createAdminServer({ settings: { host, port }, logger, isDraining }: AdminServerOptions): HttpServer {
  return createEdge({
    settings: { ...LIMITS, host, port },
    inactivityMs: LIMITS.sendTimeoutMs,
    logger,
    lifecycle: createLifecycle(),
    middleware: () => [route(probeRoutes(isDraining))],
  });
}
