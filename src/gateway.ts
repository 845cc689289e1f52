import { setTimeout as sleep } from 'node:timers/promises';
import { parseConfig } from './config/load.ts';
import type { Config, SettingsInput } from './config/schema/settings.ts';
import { type Core, createCore } from './core.ts';
import { createPartitioner } from './credentials/partition.ts';
import { createAdminServer } from './http/admin-server.ts';
import type { Endpoint } from './http/endpoint.ts';
import { createHttpServer } from './http/server.ts';
import { createLogger, type Logger } from './observability/logger.ts';
import { RESOURCES } from './resources/index.ts';
import { createForms } from './snapshots/forms.ts';
import { createQuotes } from './snapshots/quotes.ts';
import type { BreakerState } from './upstream/breaker.ts';
import { readVersion } from './version.ts';

export { ConfigError } from './config/config-error.ts';
export type { Config, SettingsInput } from './config/schema/settings.ts';
export type { BreakerState } from './upstream/breaker.ts';

export interface GatewayOptions {
  /** @default a logger on standard output, at `log.level` */
  readonly logger?: Logger;
  /** Milliseconds since the epoch, for how old an answer is. @default `Date.now` */
  readonly now?: () => number;
}

/** One Portico in this process. */
export interface Gateway {
  /** Base URL of the public listener, without a trailing slash (`unix:<path>` on a socket). Throws before `start`. */
  readonly url: string;
  /** Base URL of the admin listener; `undefined` where there is none, or before `start`. */
  readonly adminUrl: string | undefined;
  /** State of the circuit breaker of each upstream now, by the upstream's name in settings. */
  readonly breakers: Readonly<Record<string, BreakerState>>;
  /** Listens, and resolves with `url`. Rejects with Node's own error where it cannot. No upstream is asked. */
  start(): Promise<string>;
  /**
   * Drains: `/readyz` says 503 for `shutdown.delayMs`, then nothing more is accepted, and what is in flight has
   * `shutdown.graceMs` to finish. Resolves with whether all of it did.
   */
  close(): Promise<boolean>;
}

/**
 * Puts a gateway together from settings, as a person would write them in YAML. Throws `ConfigError` with every
 * mistake in them. Nothing listens and no upstream is asked before `start`.
 */
export function createGateway(settings: SettingsInput, options: GatewayOptions = {}): Gateway {
  const config = parseConfig(settings);
  const logger = options.logger ?? createLogger({ level: config.log.level });
  const now = options.now ?? Date.now;
  const core = createCore(config, { logger, now });
  const http = createHttpServer({
    settings: config.http,
    catalogue: core.catalogue,
    partition: createPartitioner(),
    encode: createForms(core.cache),
    logger,
    now,
    readDeadlineMs: Math.max(...Object.values(config.upstreams).map(({ timeoutMs }) => timeoutMs)),
    endpoints: config.mcp.enabled ? [mcpEndpoint(config, core, now)] : [],
  });
  const admin = config.admin.enabled
    ? createAdminServer({ settings: config.admin, logger, isDraining: http.isDraining })
    : undefined;
  let url: string | undefined;
  let adminUrl: string | undefined;

  return {
    get url() {
      if (url === undefined) throw new Error('the gateway has not started');
      return url;
    },
    get adminUrl() {
      return adminUrl;
    },
    get breakers() {
      return Object.fromEntries([...core.upstreams].map(([name, { breakerState }]) => [name, breakerState]));
    },
    async start() {
      adminUrl = await admin?.listen();
      try {
        url = await http.listen();
      } catch (error) {
        await admin?.drain(0);
        throw error;
      }
      return url;
    },
    async close() {
      http.markDraining();
      await sleep(config.shutdown.delayMs);
      const whole = await http.drain(config.shutdown.graceMs);
      await admin?.drain(0);
      await core.close();
      return whole;
    },
  };
}

/** MCP over HTTP. The SDK takes a while to load and a good deal of memory, so that it waits for the first who asks. */
function mcpEndpoint(config: Config, { catalogue, cache }: Core, now: () => number): Endpoint {
  let loading: Promise<Pick<Endpoint, 'answer'>> | undefined;
  const load = async () => {
    const { createMcpEndpoint } = await import('./mcp/endpoint.ts');
    return createMcpEndpoint({
      ...config.mcp,
      catalogue,
      resources: RESOURCES,
      version: readVersion(),
      now,
      quote: config.http.answerAhead ? createQuotes(cache) : undefined,
    });
  };
  return {
    path: '/mcp',
    maxBodyBytes: config.mcp.maxBodyBytes,
    async answer(request) {
      loading ??= load();
      return (await loading).answer(request);
    },
  };
}
