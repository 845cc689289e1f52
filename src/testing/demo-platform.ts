import type { Behaviour } from '../demo/faults.ts';
import { type DemoPlatformOptions, startDemoPlatform as start } from '../demo/platform.ts';
import type { SettingsInput } from '../gateway.ts';

/** APIs of the demo platform, and their lists. */
export type DemoApiName = 'projects' | 'workflows' | 'tools';

/** A local platform with the default contract, its own data, and faults that a test switches on and off. */
export interface DemoPlatform {
  /** Settings for this platform. */
  readonly upstreams: SettingsInput['upstreams'];
  /** Origin of each API, without a trailing slash. */
  readonly urls: Readonly<Record<DemoApiName, string>>;
  /**
   * Behaviour of each API from its next request on: `behaviour.tools.fault = 'stall'`, `behaviour.projects.latencyMs =
   * 50`. `fault: null` and `latencyMs: 0` reset it.
   */
  readonly behaviour: Readonly<Record<DemoApiName, Behaviour>>;
  /** Ends all listeners and requests. Can be called again. */
  close(): Promise<void>;
}

/**
 * Starts the platform of `portico --demo` in this process, on real sockets. It accepts two tokens, `demo-alice` and
 * `demo-bob`, with different projects.
 */
export async function startDemoPlatform(options: DemoPlatformOptions = {}): Promise<DemoPlatform> {
  const platform = await start(options);
  const upstreams = Object.entries(platform.urls).map(([name, baseUrl]) => [name, { baseUrl }] as const);
  return { ...platform, upstreams: Object.fromEntries(upstreams) };
}
