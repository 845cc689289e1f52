import type { Behaviour } from '../demo/faults.ts';
import { type DemoPlatformOptions, startDemoPlatform as start } from '../demo/platform.ts';
import type { SettingsInput } from '../gateway.ts';

/** The APIs of the demo platform, and the lists that they serve. */
export type DemoApiName = 'projects' | 'workflows' | 'tools';

/** A platform on this machine, with the default contract, data of its own, and faults that a test turns on and off. */
export interface DemoPlatform {
  /** Settings that lead to it. */
  readonly upstreams: SettingsInput['upstreams'];
  /** Origin of each API, without a trailing slash. */
  readonly urls: Readonly<Record<DemoApiName, string>>;
  /**
   * How each API behaves from its next request on: `behaviour.tools.fault = 'stall'`, `behaviour.projects.latencyMs = 50`.
   * `fault: null` and `latencyMs: 0` put it back.
   */
  readonly behaviour: Readonly<Record<DemoApiName, Behaviour>>;
  /** Ends all at once, also requests that wait for a response. May be called again. */
  close(): Promise<void>;
}

/**
 * Starts the platform of `portico --demo` in this process, over real sockets. It knows two tokens, `demo-alice` and
 * `demo-bob`, who see different projects.
 */
export async function startDemoPlatform(options: DemoPlatformOptions = {}): Promise<DemoPlatform> {
  const platform = await start(options);
  const upstreams = Object.entries(platform.urls).map(([name, baseUrl]) => [name, { baseUrl }] as const);
  return { ...platform, upstreams: Object.fromEntries(upstreams) };
}
