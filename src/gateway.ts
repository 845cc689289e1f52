import type { RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AnyCapability } from './capabilities/capability.ts';
import { type CapabilitySettings, openToServe, slicesFor } from './composition.ts';
import { ConfigError, collectIssues } from './core/config/config-error.ts';
import { parseSettings } from './core/config/load-config.ts';
import { type Config, type CoreSettingsInput, withLimits } from './core/config/schema/settings.ts';
import { changeSettings, type SettingsChanges } from './core/config/settings-changes.ts';
import { type Core, createCore } from './core/core.ts';
import { capConnections, readDescriptorLimit } from './core/descriptors.ts';
import {
  ADMIN_BOUNDS,
  createAdminEdge,
  createPublicEdge,
  type Edge,
  type PublicEdgeOptions,
} from './core/http/listeners.ts';
import { stackOf } from './core/kernel/errors.ts';
import { type Events, setListeners } from './core/kernel/events.ts';
import { type LimitOverrides, limitsWith } from './core/kernel/limits.ts';
import { standardOutput } from './core/log/destination.ts';
import { logEvents } from './core/log/log.ts';
import { createLogger, type Logger } from './core/log/logger.ts';
import { createRepresentations } from './core/reads/representations/representations.ts';
import { RESOURCES } from './core/resources/index.ts';
import type { Resource } from './core/resources/resource.ts';
import { createSecretFiles, type ListenerFiles } from './core/secret-files.ts';
import type { BreakerState } from './core/upstream/resilience/with-breaker.ts';
import { createEdgeOptions } from './edge-options.ts';

export { ConfigError } from './core/config/config-error.ts';
export type { Config } from './core/config/schema/settings.ts';
export type { BreakerState } from './core/upstream/resilience/with-breaker.ts';

/** Settings as a person writes them: those of the core and of all capabilities. What has a default may be left out. */
export type SettingsInput = CoreSettingsInput & CapabilitySettings;

export interface GatewayOptions {
  /** @default a logger on standard output, at `log.level` */
  readonly logger?: Logger;
  /** Log lines that `logger` has dropped so far, for metrics. @default unknown */
  readonly droppedLines?: () => number;
  /** Milliseconds since the epoch, for the age of lists. @default `Date.now` */
  readonly now?: () => number;
  /** Path of the settings file, shown on the status page. @default none */
  readonly settingsFile?: string;
  /** Capabilities of the gateway. @default all of Portico's */
  readonly capabilities?: readonly AnyCapability[];
  /** All resources; settings select those that are offered. @default the three */
  readonly resources?: readonly Resource[];
  /** Bounds in place of those of `docs/reference.md`, for tests that reach them sooner. @default none */
  readonly limits?: LimitOverrides;
}

/** A Portico in this process. */
export interface Gateway {
  /** Base URL of the public listener, without a trailing slash (`unix:<path>` on a socket). Throws before `start`. */
  readonly url: string;
  /** Base URL of the admin listener; `undefined` without one, or before `start`. */
  readonly adminUrl: string | undefined;
  /** State of the circuit breaker of each upstream, by its name in settings. */
  readonly breakers: Readonly<Record<string, BreakerState>>;
  /** The Koa application of the public listener, to be mounted in another one. A reload changes what it serves. */
  readonly app: Edge<PublicEdgeOptions>['app'];
  /** Returns a listener for a server of the program's own: `createServer(gateway.callback())`. Bounds of connections are its own. */
  callback(): RequestListener;
  /** Starts what works in the background, and opens no port: for `app` and `callback`. `start` does so, too. */
  open(): Promise<void>;
  /** Listens, and resolves with `url`. Rejects with Node's error if it cannot. Sends no request. */
  start(): Promise<string>;
  /** Applies other settings and returns their changes. Requests in flight keep theirs. Throws `ConfigError`: nothing has changed. */
  change(settings: SettingsInput): SettingsChanges;
  /** Reports settings that could not be read, as if `change` had thrown this. */
  refuse(error: unknown): void;
  /**
   * Drains: `/readyz` answers 503 for `shutdown.delayMs`, then no connections are accepted, and requests in flight have
   * `shutdown.graceMs`. Resolves with whether all finished. `signal` is the reason for the log.
   */
  close(signal?: NodeJS.Signals): Promise<boolean>;
}

/** Creates a gateway from settings as in YAML. Throws `ConfigError` with every issue. Sends nothing before `start`. */
export function createGateway(settings: SettingsInput, options: GatewayOptions = {}): Gateway {
  const parts = openParts(settings, options);
  try {
    return buildGateway(parts);
  } catch (error) {
    // The first error matters more.
    parts.open.stop(0).catch(() => {});
    throw error;
  }
}

/** Opens what stays over all reloads, and the capabilities. */
function openParts(input: SettingsInput, options: GatewayOptions) {
  const { resources = RESOURCES, now = Date.now, settingsFile } = options;
  const slices = slicesFor(options.capabilities);
  const settings = parseSettings(input, resources, slices);
  const limits = limitsWith(options.limits);
  const config = withLimits(settings, limits);
  const given = options.logger ?? createLogger(config.log);
  // The program's own logger keeps its level.
  const logger = given.child?.({}, { level: given.level ?? config.log.level }) ?? given;
  const events: Events = {};
  const destination = standardOutput();
  const droppedLogLines = options.logger === undefined ? destination.droppedLines : options.droppedLines;
  const context = { config, limits, events, logger, destination, droppedLogLines, now, resources };
  const open = openToServe({ ...context, settingsFile }, options.capabilities);
  const files = createSecretFiles({ events, now });
  return { first: { settings, config }, open, resources, slices, limits, logger, events, files, now };
}

function buildGateway({ first, open, ...lasting }: ReturnType<typeof openParts>): Gateway {
  const { resources, slices, limits, logger, events, files, now } = lasting;
  let { settings, config } = first;
  let capabilities = open;
  // One over all reloads: it holds when a repeated warning was logged last.
  const log = logEvents(logger);
  const listen = () => setListeners(events, [log, ...capabilities.listeners]);
  listen();
  let tls: ListenerFiles = {};
  const check = () => {
    [, tls] = collectIssues([open.check, () => files.listenerTls(config)]);
  };
  let core = createCore(config, { events, now, resources, hooks: capabilities.hooks, files, check });
  const representations = createRepresentations(core.reloadState.cache, { ...config.http, ...config.mcp });
  const cap = capConnections(config, ADMIN_BOUNDS.maxConnections, readDescriptorLimit());
  let draining = false;
  const edgeOptions = createEdgeOptions({
    ...{ events, representations, now, maxConnections: cap?.maxConnections, isDraining: () => draining },
  });
  const running = () => ({ config, core, hooks: capabilities.hooks, tls });
  const http = createPublicEdge(edgeOptions.ofPublic(running()));
  const admin = config.admin.enabled ? createAdminEdge(edgeOptions.ofAdmin(running())) : undefined;
  /** Earlier cores that are still in use, and the end of all of them. */
  const retiring = new Set<Core>();
  let retired: Promise<unknown> = Promise.resolve();
  let opened: Promise<void> | undefined;
  const startWithoutPort = () => {
    opened ??= capabilities.start();
    return opened;
  };
  let url: string | undefined;
  let adminUrl: string | undefined;

  function reportBug(error: unknown): void {
    events.internalError?.({ requestId: 'none', stack: stackOf(error) });
  }

  /** Ends a core by itself. What `then` stops may also be used by earlier cores. */
  function retire(before: Core, next: Core, then: () => Promise<void>): void {
    retiring.add(before);
    const ended = before.retire(next).finally(() => retiring.delete(before));
    retired = Promise.all([retired, ended]).then(then);
    retired.catch(reportBug);
  }

  function applySettings(wanted: Config): void {
    const before = { config, core, capabilities };
    const next = capabilities.reload(wanted);
    try {
      core = createCore(wanted, { events, now, resources, hooks: next.hooks, check: next.check, before: before.core });
      config = wanted;
      capabilities = next;
      http.change(edgeOptions.ofPublic(running()));
    } catch (error) {
      const failed = core;
      ({ config, core, capabilities } = before);
      if (failed !== core) retire(failed, core, next.revert);
      else next.revert().catch(reportBug);
      throw error;
    }
    listen();
    admin?.change(edgeOptions.ofAdmin(running()));
    next.apply().catch(reportBug);
    retire(before.core, core, next.retire);
  }

  function change(input: SettingsInput): SettingsChanges {
    const changed = changeSettings(settings, parseSettings(input, resources, slices), slices);
    if (changed.changes.applied.length > 0) applySettings(withLimits(changed.settings, limits));
    settings = changed.settings;
    events.settingsReloaded?.(changed.changes);
    if (changed.changes.applied.length + changed.changes.needRestart.length === 0) return changed.changes;
    events.settingsChanged?.(changed.changes);
    if (changed.changes.applied.includes('log.level')) logger.level = config.log.level;
    return changed.changes;
  }

  function refuse(error: unknown): void {
    const issue = error instanceof ConfigError ? error.message : 'a bug: see the log';
    events.settingsRefused?.({ issue: issue.split('\n', 1).join() });
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
    app: http.app,
    callback: () => http.app.callback(),
    open: startWithoutPort,
    async start() {
      await startWithoutPort();
      adminUrl = await admin?.listen();
      try {
        url = await http.listen();
      } catch (error) {
        await admin?.drain(0);
        throw error;
      }
      if (cap !== undefined) events.connectionsCapped?.(cap);
      events.listening?.({ url, adminUrl, resources: core.catalogue.offered.map(({ resource }) => resource.name) });
      return url;
    },
    change(input) {
      try {
        return change(input);
      } catch (error) {
        refuse(error);
        throw error;
      }
    },
    refuse,
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
