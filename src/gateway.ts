import { setTimeout as sleep } from 'node:timers/promises';
import type { AnyCapability } from './capabilities/capability.ts';
import { type CapabilitySettings, openToServe, slicesFor } from './composition.ts';
import { changeSettings, type SettingsChanges } from './core/config/changes.ts';
import { parseSettings } from './core/config/load-config.ts';
import {
  type Config,
  type SettingsInput as CoreSettingsInput,
  type Settings,
  withLimits,
} from './core/config/schema/settings.ts';
import type { SettingsSlice } from './core/config/settings-slice.ts';
import { type Core, createCore } from './core/core.ts';
import type { GatewayState, Hooks, Readings } from './core/hooks.ts';
import { createAdminEdge, createPublicEdge, type PublicEdgeOptions } from './core/http/listeners.ts';
import { UNKNOWN_PATH } from './core/http/operations/operation.ts';
import { MCP_PATH } from './core/http/operations/rpc.ts';
import type { Events } from './core/kernel/events.ts';
import { setListeners } from './core/kernel/join-events.ts';
import { type LimitOverrides, type Limits, limitsWith } from './core/kernel/limits.ts';
import { logEvents } from './core/log/log.ts';
import { createLogger, type Logger, standardOutput } from './core/log/logger.ts';
import { rpcOptions } from './core/mcp-over-http.ts';
import { createOwnFiles, type OwnFiles, withFiles } from './core/own-files.ts';
import { createRepresentations } from './core/reads/representations/representations.ts';
import { RESOURCES } from './core/resources/index.ts';
import type { Resource } from './core/resources/resource.ts';
import type { BreakerState } from './core/upstream/resilience/with-breaker.ts';

export { ConfigError } from './core/config/mistakes/config-error.ts';
export type { Config } from './core/config/schema/settings.ts';
export type { BreakerState } from './core/upstream/resilience/with-breaker.ts';

/** Settings as a person writes them: those of the core and of all capabilities. What has a default may be left out. */
export type SettingsInput = CoreSettingsInput & CapabilitySettings;

export interface GatewayOptions {
  /** @default a logger on standard output, at `log.level` */
  readonly logger?: Logger;
  /** Log lines that `logger` has dropped so far, for metrics. @default unknown */
  readonly droppedLines?: () => number;
  /** Milliseconds since the epoch, for how old an answer is. @default `Date.now` */
  readonly now?: () => number;
  /** Whether the environment put in what settings have at a path: the status page masks it. @default nothing */
  readonly isFromEnvironment?: (path: readonly string[]) => boolean;
  /** The file that the settings are from and are read from again, which the status page names. @default none */
  readonly settingsFile?: string;
  /** What is added to the core. @default every capability of Portico */
  readonly capabilities?: readonly AnyCapability[];
  /** Every resource that there is; settings name those that are offered. @default the three */
  readonly resources?: readonly Resource[];
  /** Bounds in place of those of `docs/limits.md`, for tests that reach them sooner. @default none */
  readonly limits?: LimitOverrides;
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
   * Goes on by other settings, and tells what they have changed. What is under way ends by those that it began with. Throws
   * `ConfigError` with every issue in them; nothing has changed then.
   */
  change(settings: SettingsInput): SettingsChanges;
  /** Reopens files after a log rotation; `false` where there is none. The log has a line with the result. */
  reopenFiles(): boolean;
  /**
   * Drains: `/readyz` says 503 for `shutdown.delayMs`, then nothing more is accepted, and what is in flight has
   * `shutdown.graceMs` to finish. Resolves with whether all of it did. `signal` is why, for the log.
   */
  close(signal?: NodeJS.Signals): Promise<boolean>;
}

/**
 * Puts a gateway together from settings, as a person would write them in YAML. Throws `ConfigError` with every
 * issue in them. Nothing listens and no upstream is asked before `start`.
 */
export function createGateway(settings: SettingsInput, options: GatewayOptions = {}): Gateway {
  const { resources = RESOURCES, now = Date.now } = options;
  const slices = slicesFor(options.capabilities);
  const parsed = parseSettings(settings, resources, slices);
  const limits = limitsWith(options.limits);
  const config = withLimits(parsed, limits);
  const given = options.logger ?? createLogger(config.log);
  // The program's own logger keeps its level.
  const logger = given.child?.({}, { level: given.level ?? config.log.level }) ?? given;
  const events: Events = {};
  const destination = standardOutput();
  const files = createOwnFiles({ events, now });
  const readings: Partial<Readings> = {};
  const about = { isFromEnvironment: options.isFromEnvironment, settingsFile: options.settingsFile };
  const capabilities = openToServe(
    { config, limits, events, readings, logger, destination, now, resources, ...about },
    options.capabilities,
  );
  const droppedLogLines = options.logger === undefined ? () => destination.droppedLines ?? 0 : options.droppedLines;
  Object.assign(readings, capabilities.hooks.readings, droppedLogLines && { droppedLogLines });
  try {
    return buildGateway(parsed, {
      ...options,
      logger,
      events,
      files,
      limits,
      open: capabilities,
      slices,
    });
  } catch (error) {
    void capabilities.stop(0);
    throw error;
  }
}

interface BuildOptions extends Omit<GatewayOptions, 'limits'> {
  readonly limits: Limits;
  readonly logger: Logger;
  readonly events: Events;
  readonly files: OwnFiles;
  readonly open: ReturnType<typeof openToServe>;
  readonly slices: readonly SettingsSlice[];
}

function buildGateway(first: Settings, options: BuildOptions): Gateway {
  const { resources = RESOURCES, logger, events, files, slices, limits } = options;
  let capabilities = options.open;
  let settings = first;
  let config = withLimits(settings, limits);
  const now = options.now ?? Date.now;
  const log = logEvents(logger, { loggerFor: (request) => capabilities.hooks.loggerFor(request) });
  const listen = () => setListeners(events, [log, ...capabilities.listeners]);
  listen();
  const tls = { http: files.listenerTls('http', config), admin: files.listenerTls('admin', config) };
  const lasting = { events, now, resources };
  let core = createCore(config, { ...lasting, hooks: capabilities.hooks, files });
  const representations = createRepresentations(core.holdings.cache, { ...config.http, ...config.mcp });
  let draining = false;
  /** Of the settings, or that of the given logger. */
  let { level } = logger;
  const common = { events, isDraining: () => draining };
  const publicOptions = (): PublicEdgeOptions => ({
    ...common,
    authenticate: core.authenticate,
    otherCredentials: core.otherCredentials,
    settings: { ...config.http, tls: withFiles(config.http.tls, tls.http), ...publicHosts(config) },
    catalogue: core.catalogue,
    users: core,
    hooks: capabilities.hooks,
    operations: (unknown) => capabilities.hooks.operations({ ...stateNow(), unknown }),
    representations,
    now,
    readDeadlineMs: longestReadMs(config, capabilities.hooks),
    tokenSource: capabilities.hooks.verifier?.tokenSource,
    rpc: config.mcp.enabled
      ? rpcOptions(config, core, {
          ...{ representations, events, now, wrapDispatch: capabilities.hooks.wrapDispatch },
          tokenSource: capabilities.hooks.verifier?.tokenSource,
        })
      : undefined,
  });
  const http = createPublicEdge(publicOptions());
  const admin = config.admin.enabled
    ? createAdminEdge({
        ...common,
        authenticate: core.authenticate,
        settings: { ...config.admin, tls: withFiles(config.admin.tls, tls.admin) },
        operations: capabilities.hooks.adminOperations({ ...stateNow(), unknown: UNKNOWN_PATH }),
      })
    : undefined;
  /** Resolves once the cores before this one are closed, one after the other: what one takes over, another may still use. */
  let retired = Promise.resolve();
  const retiring = new Set<Core>();
  let url: string | undefined;
  let adminUrl: string | undefined;

  function stateNow(): Omit<GatewayState, 'unknown'> {
    return {
      config,
      offered: core.catalogue.offered,
      otherCredentials: core.otherCredentials,
      mcpPath: config.mcp.enabled ? MCP_PATH : undefined,
      signsIn: capabilities.hooks.verifier?.tokenSource !== undefined,
    };
  }

  function retire(before: Core, next: Core, then: () => Promise<void>): void {
    retiring.add(before);
    retired = retired.then(() => before.retire(next)).finally(() => retiring.delete(before));
    retired = retired.then(then);
  }

  function goOnBy(wanted: Config): void {
    const before = { config, core, capabilities };
    const next = capabilities.reload(wanted);
    try {
      core = createCore(wanted, { ...lasting, hooks: next.hooks, before: before.core });
      config = wanted;
      capabilities = next;
      http.change(publicOptions());
    } catch (error) {
      const failed = core;
      ({ config, core, capabilities } = before);
      if (failed !== core) retire(failed, core, next.revert);
      else void next.revert();
      throw error;
    }
    listen();
    void next.start();
    retire(before.core, core, next.retire);
  }

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
      await capabilities.start();
      adminUrl = await admin?.listen();
      try {
        url = await http.listen();
      } catch (error) {
        await admin?.drain(0);
        throw error;
      }
      events.listening?.({ url, adminUrl, resources: core.catalogue.offered.map(({ resource }) => resource.name) });
      return url;
    },
    change(input) {
      const changed = changeSettings(settings, parseSettings(input, resources, slices), slices);
      if (changed.changes.applied.length > 0) goOnBy(withLimits(changed.settings, limits));
      settings = changed.settings;
      if (changed.changes.applied.length + changed.changes.needRestart.length === 0) return changed.changes;
      events.settingsChanged?.(changed.changes);
      if (changed.changes.applied.includes('log.level')) {
        // A temporary level stays.
        if (logger.level === level) logger.level = config.log.level;
        ({ level } = config.log);
      }
      return changed.changes;
    },
    reopenFiles: () => capabilities.hooks.reopenFiles(),
    async close(signal) {
      draining = true;
      events.draining?.({ signal });
      await sleep(config.shutdown.delayMs);
      const { graceMs } = config.shutdown;
      const until = performance.now() + graceMs;
      const whole = await http.drain(graceMs);
      await admin?.drain(0);
      await Promise.all([...retiring, core].map((open) => open.close()));
      await capabilities.stop(Math.max(0, until - performance.now()));
      events.drained?.({ whole });
      return whole;
    },
  };
}

/** A page that reached this by a name of its own has no token that is verified (docs/decisions/0059). */
function publicHosts({ publicUrl, verification }: Config) {
  return { publicUrl, takesAnyName: verification !== undefined };
}

/** Upper bound of a read: first it may wait for another replica's load. */
function longestReadMs({ upstreams }: Config, { sharing }: Hooks): number {
  return Math.max(...Object.values(upstreams).map(({ timeoutMs }) => timeoutMs)) + (sharing?.waitMs ?? 0);
}
