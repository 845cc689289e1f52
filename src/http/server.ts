import type { Catalogue } from '../catalogue/catalogue.ts';
import type { Partitioner } from '../credentials/partition.ts';
import type { Logger } from '../observability/logger.ts';
import type { Encode } from '../snapshots/forms.ts';
import { answerAhead } from './answer-ahead.ts';
import { answerPosts } from './answer-posts.ts';
import { createAskEndpoint } from './ask-endpoint.ts';
import { checkHost, createHosts } from './checks/host.ts';
import { checkOrigin } from './checks/origin.ts';
import { checkStopping } from './checks/stopping.ts';
import { createEdge, type HttpServer } from './edge.ts';
import type { Endpoint } from './endpoint.ts';
import { createLifecycle } from './lifecycle.ts';
import type { ListenerSettings } from './listener.ts';
import { runChecks } from './middleware/run-checks.ts';
import { createQuickWay } from './quick-way.ts';
import { endpointRoutes, takesBodyFor } from './routes/endpoint.ts';
import { PROBE_PATHS, probeRoutes } from './routes/probes.ts';
import { readRoutes } from './routes/reads.ts';
import { route } from './routes/router.ts';

/** Settings of the public listener. */
export interface HttpSettings extends ListenerSettings {
  readonly allowedHosts?: readonly string[] | undefined;
  readonly allowedOrigins: readonly string[];
  readonly compressMinBytes: number;
  /** Whether cached reads, and what endpoints answer, go ahead of the layers, where nothing is out of the ordinary. */
  readonly answerAhead: boolean;
}

export interface HttpServerOptions {
  readonly settings: HttpSettings;
  readonly catalogue: Catalogue;
  readonly partition: Partitioner;
  readonly encode: Encode;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The longest that a read can take: so long may a connection be silent before its answer is begun. */
  readonly readDeadlineMs: number;
  /** What else is answered here. @default none */
  readonly endpoints?: readonly Endpoint[];
}

/** The public listener: the two reads, the endpoints, and the probes. */
export function createHttpServer({
  settings,
  catalogue,
  partition,
  encode,
  logger,
  now,
  readDeadlineMs,
  endpoints = [],
}: HttpServerOptions): HttpServer {
  const lifecycle = createLifecycle();
  const { allowedHosts, allowedOrigins, compressMinBytes, keepAliveTimeoutMs, sendTimeoutMs } = settings;
  return createEdge({
    settings,
    inactivityMs: readDeadlineMs + sendTimeoutMs,
    logger,
    lifecycle,
    takesBody: takesBodyFor(endpoints),
    ahead: settings.answerAhead
      ? (connections, address) => {
          const answersFor = createHosts({ allowedHosts, address });
          const way = createQuickWay({
            limits: settings,
            keepAliveTimeoutMs,
            logger,
            lifecycle,
            connections,
            answersFor,
          });
          const common = { partition, limits: settings, connections, way };
          const reads = answerAhead({ ...common, catalogue, encode, compressMinBytes, now });
          const posts = answerPosts({ ...common, endpoints, ask: createAskEndpoint({ logger, now }) });
          return (req, res) => reads(req, res) || posts(req, res);
        }
      : undefined,
    middleware: (address) => [
      runChecks(
        [checkStopping(lifecycle), checkHost({ allowedHosts, address }), checkOrigin(allowedOrigins)],
        PROBE_PATHS,
      ),
      route(
        {
          ...readRoutes({ catalogue, partition, compressMinBytes, encode, now }),
          ...probeRoutes(() => lifecycle.draining),
        },
        endpointRoutes({ endpoints, partition, logger, now }),
      ),
    ],
  });
}
