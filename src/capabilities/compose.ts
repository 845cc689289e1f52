import { isDeepStrictEqual } from 'node:util';
import { collectIssues } from '../core/config/config-error.ts';
import type { Config } from '../core/config/schema/settings.ts';
import { blockOf, type SettingsSlice } from '../core/config/settings-slice.ts';
import { type Contribution, composeHooks, type Hooks } from '../core/hooks.ts';
import type { Events } from '../core/kernel/events.ts';
import type { AnyCapability, CapabilityContext, Purpose } from './capability.ts';

export interface OpenCapabilities {
  /** Throws what opening them has thrown: one `ConfigError` with every issue. The others are open. */
  check(): void;
  readonly hooks: Hooks;
  readonly listeners: readonly Events[];
  /** Starts them in order. Rejects with the first failure. */
  start(): Promise<void>;
  /** Opens once more, beside the open ones, those whose settings have changed. */
  reload(config: Config): ReloadedCapabilities;
  /** Stops them in reverse order; each has what is left of this many milliseconds. */
  stop(withinMs: number): Promise<void>;
}

/** Capabilities after a reload. One of `apply` and `revert` must be called. */
interface ReloadedCapabilities extends OpenCapabilities {
  /** Reports the settings to the capabilities that were kept, and starts the others. Rejects with the first failure. */
  apply(): Promise<void>;
  /** Stops those that were replaced. Called when no request uses them. */
  retire(): Promise<void>;
  /** Stops those that `reload` has opened. */
  revert(): Promise<void>;
}

/** The slices of these capabilities. */
export type SlicesOf<Capabilities extends readonly AnyCapability[]> = readonly NonNullable<
  Capabilities[number]['settings']
>[];

export function slicesOf(capabilities: readonly AnyCapability[]): readonly SettingsSlice[] {
  return capabilities.flatMap(({ settings }) => settings ?? []);
}

/** Opens what settings switch on. `check` throws the issues of those that could not be opened. */
export function openCapabilities(
  capabilities: readonly AnyCapability[],
  purpose: Purpose,
  context: CapabilityContext,
): OpenCapabilities {
  const used = capabilities.filter(({ purposes = ['serve'] }) => purposes.includes(purpose));
  return composed(openAll(used, context, []), context);
}

/** One capability with its settings; `contribution` is `undefined` where it is switched off. */
interface Entry {
  readonly capability: AnyCapability;
  readonly reason: unknown;
  readonly contribution: Contribution | undefined;
}

/** Opens each, or keeps the entry of `before` whose settings are the same, or need a restart. `failure`: what was thrown. */
function openAll(
  capabilities: readonly AnyCapability[],
  context: CapabilityContext,
  before: readonly Entry[],
): { readonly entries: readonly Entry[]; readonly failure: unknown } {
  const { config, resources } = context;
  const entries: Entry[] = [];
  let { counts, keyOf } = context;

  function open(capability: AnyCapability): void {
    const settings = settingsOf(capability, config);
    const reason = [settings, capability.dependsOn?.(config, resources)];
    const running = before.find((entry) => entry.capability === capability);
    const isKept = running !== undefined && isDeepStrictEqual(running.reason, reason);
    const contribution = isKept ? running.contribution : capability.open(settings, { ...context, counts, keyOf });
    entries.push(isKept ? running : { capability, reason, contribution });
    counts = contribution?.sharing?.counts ?? counts;
    keyOf = contribution?.sharing?.keyOf ?? keyOf;
  }

  try {
    collectIssues(capabilities.map((capability) => () => open(capability)));
    return { entries, failure: undefined };
  } catch (failure) {
    return { entries, failure };
  }
}

function composed({ entries, failure }: ReturnType<typeof openAll>, context: CapabilityContext): OpenCapabilities {
  const open = entries.flatMap(({ contribution = [] }) => contribution);
  return {
    check() {
      if (failure !== undefined) throw failure;
    },
    hooks: composeHooks(open),
    listeners: open.flatMap(({ listeners = [] }) => listeners),
    start: () => startAll(entries),
    reload(config) {
      const capabilities = entries.map(({ capability }) => capability);
      const next = openAll(capabilities, { ...context, config }, entries);
      const added = without(next.entries, entries);
      return {
        ...composed(next, context),
        apply() {
          for (const { contribution } of without(next.entries, added)) contribution?.onReload?.(config);
          return startAll(added);
        },
        retire: () => stopAll(without(entries, next.entries), 0),
        revert: () => stopAll(added, 0),
      };
    },
    stop: (withinMs) => stopAll(entries, withinMs),
  };
}

function without(entries: readonly Entry[], others: readonly Entry[]): readonly Entry[] {
  return entries.filter((entry) => !others.includes(entry));
}

function settingsOf({ settings }: AnyCapability, config: object): unknown {
  return settings && blockOf(config, settings);
}

async function startAll(entries: readonly Entry[]): Promise<void> {
  for (const { contribution } of entries) await contribution?.start?.();
}

/** Stops all, even if one fails, and rejects with the first failure. */
async function stopAll(entries: readonly Entry[], withinMs: number): Promise<void> {
  const until = performance.now() + withinMs;
  const failures: unknown[] = [];
  for (const { contribution } of entries.toReversed()) {
    try {
      await contribution?.stop?.(Math.max(0, until - performance.now()));
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
