import { ConfigError, type ConfigIssue } from '../core/config/mistakes/config-error.ts';
import { blockOf, type SettingsSlice } from '../core/config/settings-slice.ts';
import { type Contribution, composeHooks, type Hooks } from '../core/hooks.ts';
import type { Events } from '../core/kernel/events.ts';
import type { AnyCapability, CapabilityContext, Purpose } from './capability.ts';

/** The capabilities of one gateway that are switched on. */
export interface OpenCapabilities {
  readonly hooks: Hooks;
  readonly listeners: readonly Events[];
  /** Starts them in order. Rejects with the first failure, and stops those that had started. */
  start(): Promise<void>;
  /** Stops them in reverse order; each has what is left of this many milliseconds. */
  stop(withinMs: number): Promise<void>;
}

/** The slices of these capabilities. */
export type SlicesOf<Capabilities extends readonly AnyCapability[]> = readonly NonNullable<
  Capabilities[number]['settings']
>[];

/** Blocks of the settings file that belong to these capabilities. */
export function slicesOf(capabilities: readonly AnyCapability[]): readonly SettingsSlice[] {
  const slices = known.get(capabilities) ?? capabilities.flatMap(({ settings }) => settings ?? []);
  known.set(capabilities, slices);
  return slices;
}

/** The schema of settings is created once for each list of slices. */
const known = new WeakMap<readonly AnyCapability[], readonly SettingsSlice[]>();

/** Opens what settings switch on. Throws one `ConfigError` with every issue; nothing is open then. */
export function openCapabilities(
  capabilities: readonly AnyCapability[],
  purpose: Purpose,
  context: CapabilityContext,
): OpenCapabilities {
  const open: Contribution[] = [];
  try {
    forEach(capabilities, purpose, (capability) => {
      const opened = capability.open(settingsOf(capability, context.config), context);
      if (opened !== undefined) open.push(opened);
    });
  } catch (error) {
    void stopAll(open, 0);
    throw error;
  }
  return {
    hooks: composeHooks(open),
    listeners: open.flatMap(({ listeners = [] }) => listeners),
    async start() {
      for (const one of open) await one.start?.();
    },
    stop: (withinMs) => stopAll(open, withinMs),
  };
}

/** Throws one `ConfigError` with every file that cannot be used. Opens nothing for longer than that takes. */
export function checkCapabilities(capabilities: readonly AnyCapability[], config: object): void {
  forEach(capabilities, 'serve', (capability) => capability.check?.(settingsOf(capability, config)));
}

/** Calls `use` with each capability of a purpose, and throws the issues of all of them at once. */
function forEach(
  capabilities: readonly AnyCapability[],
  purpose: Purpose,
  use: (capability: AnyCapability) => void,
): void {
  const issues: ConfigIssue[] = [];
  for (const capability of capabilities) {
    if (!(capability.purposes ?? ['serve']).includes(purpose)) continue;
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

async function stopAll(open: readonly Contribution[], withinMs: number): Promise<void> {
  const until = performance.now() + withinMs;
  for (const one of open.toReversed()) await one.stop?.(Math.max(0, until - performance.now()));
}
