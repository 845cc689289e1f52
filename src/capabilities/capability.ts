import type { z } from 'zod';
import type { Config } from '../core/config/schema/settings.ts';
import type { SettingsSlice } from '../core/config/settings-slice.ts';
import type { KeyOf } from '../core/credentials/authenticate.ts';
import type { Contribution } from '../core/hooks.ts';
import type { Events } from '../core/kernel/events.ts';
import type { Limits } from '../core/kernel/limits.ts';
import type { LogDestination } from '../core/log/destination.ts';
import type { Logger } from '../core/log/logger.ts';
import type { Resource } from '../core/resources/resource.ts';
import type { SharedCounts } from '../core/sharing.ts';
import type { Upstream } from '../core/upstream/upstream.ts';

/** What runs a gateway: `portico serve`, `portico stdio`, or one read of `portico check --probe`. */
export type Purpose = 'serve' | 'stdio' | 'probe';

/** What the gateway gives to each capability. */
export interface CapabilityContext {
  readonly config: Config;
  readonly limits: Limits;
  /** Emits events to all listeners. Only after `start`. */
  readonly events: Events;
  /** Log lines that were dropped so far. @default unknown: the logger is the program's own */
  readonly droppedLogLines?: (() => number) | undefined;
  readonly logger: Logger;
  readonly destination: LogDestination;
  readonly now: () => number;
  /** Counters that replicas share, if a capability before this one contributes them. */
  readonly counts: SharedCounts | undefined;
  readonly keyOf: KeyOf;
  /** Applies the wrappers of all capabilities to a client of a remote server. Only after `start`. */
  wrapClient(client: Upstream, baseUrl: string): Upstream;
  /** The file that settings were read from. @default none */
  readonly settingsFile?: string | undefined;
  readonly resources: readonly Resource[];
}

/**
 * One optional feature. `open` returns `undefined` where settings switch it off.
 *
 * @example
 * // `greeting: { text: Hello }` in settings adds GET /hello. Its line in index.ts is all that the gateway needs to know of it.
 * export const greeting = defineCapability({
 *   settings: { key: 'greeting', schema: z.strictObject({ text: z.string().default('') }).prefault({}) },
 *   open: ({ text }) => {
 *     if (text === '') return undefined;
 *     return { operations: () => [openOperation('/hello', () => unstored(text, 'text/plain'))] };
 *   },
 * });
 */
export interface Capability<Key extends string = string, Schema extends z.ZodType = z.ZodType> {
  readonly settings?: SettingsSlice<Key, Schema>;
  /** Returns other settings that the capability depends on. A reload that changes them reopens it. @default none */
  dependsOn?(config: Config, resources: readonly Resource[]): unknown;
  /** @default `serve` alone */
  readonly purposes?: readonly Purpose[];
  /** Throws `ConfigError` where it cannot be opened. Must not listen or connect before `start`. */
  open(settings: z.output<Schema>, context: CapabilityContext): Contribution | undefined;
}

/** Returns the capability as it is, with the types of its settings inferred. */
export function defineCapability<const Key extends string = never, Schema extends z.ZodType = z.ZodType>(
  capability: Capability<Key, Schema>,
): Capability<Key, Schema> {
  return capability;
}

// biome-ignore lint/suspicious/noExplicitAny: the list holds capabilities of different settings, each called with its own.
export type AnyCapability = Capability<string, any>;
