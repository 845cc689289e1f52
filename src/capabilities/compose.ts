import { isDeepStrictEqual } from 'node:util';
import { ConfigError, type ConfigIssue } from '../core/config/mistakes/config-error.ts';
import type { Config } from '../core/config/schema/settings.ts';
import { blockOf, type SettingsSlice } from '../core/config/settings-slice.ts';
import { type Contribution, composeHooks, type Hooks } from '../core/hooks.ts';
import type { Events } from '../core/kernel/events.ts';
import type { AnyCapability, CapabilityContext, Purpose } from './capability.ts';

/** The capabilities of one gateway that are switched on. */
export interface OpenCapabilities {
  readonly hooks: Hooks;
  readonly listeners: readonly Events[];
  /** Starts them in order. Rejects with the first failure. */
  start(): Promise<void>;
  /**
   * Reopens the capabilities whose own settings have changed, and notifies the others. `stop` of what this
   * returns stops all that is open then. Throws `ConfigError` where one cannot be opened; nothing has changed then.
   */
  reload(config: Config): ReloadedCapabilities;
  /** Stops them in reverse order; each has what is left of this many milliseconds. */
  stop(withinMs: number): Promise<void>;
}

/** Capabilities after a reload. */
export interface ReloadedCapabilities extends OpenCapabilities {
  /** Stops those that were replaced. Called when no request uses them. */
  retire(): Promise<void>;
  /** Stops the reopened ones if the reload fails later. */
  revert(): Promise<void>;
}

/** The slices of these capabilities. */
export type SlicesOf<Capabilities extends readonly AnyCapability[]> = readonly NonNullable<
  Capabilities[number]['settings']
>[];

/** The schema of settings is created once for each list of slices. */
const known = new WeakMap<readonly AnyCapability[], readonly SettingsSlice[]>();

/** Blocks of the settings file that belong to these capabilities. */
export function slicesOf(capabilities: readonly AnyCapability[]): readonly SettingsSlice[] {
  const slices = known.get(capabilities) ?? capabilities.flatMap(({ settings }) => settings ?? []);
  known.set(capabilities, slices);
  return slices;
}

/** Opens what settings switch on. Throws one `ConfigError` with every issue; nothing is open then. */
export function openCapabilities(
  capabilities: readonly AnyCapability[],
  purpose: Purpose,
  context: CapabilityContext,
): OpenCapabilities {
  const used = capabilities.filter(({ purposes = ['serve'] }) => purposes.includes(purpose));
  return composed(openAll(used, context, []), context);
}

/** Throws one `ConfigError` with every file that cannot be used. */
export function checkCapabilities(capabilities: readonly AnyCapability[], config: Config): void {
  collectIssues(capabilities, (capability) => capability.check?.(config, settingsOf(capability, config)));
}

/** One capability with its settings; `contribution` is `undefined` where it is switched off. */
interface Entry {
  readonly capability: AnyCapability;
  /** Settings for which it was opened. */
  readonly reason: unknown;
  readonly contribution: Contribution | undefined;
}

/** Opens each, or keeps the entry of `before` whose settings are the same, or need a restart. */
function openAll(
  capabilities: readonly AnyCapability[],
  context: CapabilityContext,
  before: readonly Entry[],
): readonly Entry[] {
  const entries: Entry[] = [];
  let { counts, keyOf } = context;
  try {
    collectIssues(capabilities, (capability) => {
      const { config, resources } = context;
      const settings = settingsOf(capability, config);
      const reason = [settings, capability.dependsOn?.(config, resources)];
      const running = before.find((entry) => entry.capability === capability);
      const isKept = running !== undefined && isDeepStrictEqual(running.reason, reason);
      const open = () => {
        const contribution = capability.open(settings, { ...context, counts, keyOf });
        return { capability, reason, contribution };
      };
      const entry = isKept ? running : open();
      entries.push(entry);
      const { sharing } = entry.contribution ?? {};
      counts = sharing?.counts ?? counts;
      keyOf = sharing?.keyOf ?? keyOf;
    });
  } catch (error) {
    void stopAll(without(entries, before), 0);
    throw error;
  }
  return entries;
}

function composed(entries: readonly Entry[], context: CapabilityContext): OpenCapabilities {
  const open = entries.flatMap(({ contribution = [] }) => contribution);
  return {
    hooks: composeHooks(open),
    listeners: open.flatMap(({ listeners = [] }) => listeners),
    async start() {
      for (const one of open) await one.start?.();
    },
    reload(config) {
      const next = openAll(
        entries.map(({ capability }) => capability),
        { ...context, config },
        entries,
      );
      const added = without(next, entries);
      for (const { contribution } of next.filter((entry) => !added.includes(entry))) contribution?.onReload?.(config);
      return {
        ...composed(next, context),
        retire: () => stopAll(without(entries, next), 0),
        revert: () => stopAll(added, 0),
      };
    },
    stop: (withinMs) => stopAll(entries, withinMs),
  };
}

function without(entries: readonly Entry[], others: readonly Entry[]): readonly Entry[] {
  return entries.filter((entry) => !others.includes(entry));
}

/** Calls `use` with each, and throws the issues of all of them at once. */
function collectIssues(capabilities: readonly AnyCapability[], use: (capability: AnyCapability) => void): void {
  const issues: ConfigIssue[] = [];
  for (const capability of capabilities) {
    try {
      use(capability);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      issues.push(...error.issues);
    }
  }
  if (issues.length > 0) throw new ConfigError(issues);
}

function settingsOf({ settings }: AnyCapability, config: object): unknown {
  return settings && blockOf(config, settings);
}

async function stopAll(entries: readonly Entry[], withinMs: number): Promise<void> {
  const until = performance.now() + withinMs;
  for (const { contribution } of entries.toReversed())
    await contribution?.stop?.(Math.max(0, until - performance.now()));
}
