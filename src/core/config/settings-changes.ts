import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../kernel/json-shape.ts';
import type { Settings } from './schema/settings.ts';
import type { SettingsSlice } from './settings-slice.ts';

/** Changed settings, by sorted paths such as `resources.tools.path`. */
export interface SettingsChanges {
  readonly applied: readonly string[];
  /** Take effect after a restart. */
  readonly needRestart: readonly string[];
}

/** Settings that are read when a process starts, except `LIVE`. */
const AT_START = ['http', 'admin', 'shutdown', 'log.format', 'watchSettings', 'cache'];
const LIVE = ['http.allowedHosts', 'http.allowedOrigins', 'http.trustedProxies'];

/** Returns the settings that take the place of the running ones, and what they change. */
export function changeSettings(
  running: Settings,
  wanted: Settings,
  slices: readonly SettingsSlice[] = [],
): { readonly settings: Settings; readonly changes: SettingsChanges } {
  const applied: string[] = [];
  const needRestart: string[] = [];

  function merge(before: unknown, after: unknown, path: string): unknown {
    if (isDeepStrictEqual(before, after)) return before;
    if (isObject(before) && isObject(after)) {
      const names = new Set([...Object.keys(before), ...Object.keys(after)]);
      const merged = [...names].map((name) => [
        name,
        merge(before[name], after[name], path === '' ? name : `${path}.${name}`),
      ]);
      return Object.fromEntries(merged.filter(([, value]) => value !== undefined));
    }
    if (takesRestart(path, slices)) {
      needRestart.push(path);
      return before;
    }
    applied.push(path);
    return after;
  }

  const settings = merge(running, wanted, '') as Settings;
  return { settings, changes: { applied: applied.sort(), needRestart: needRestart.sort() } };
}

function takesRestart(path: string, slices: readonly SettingsSlice[]): boolean {
  const isIn = (blocks: readonly string[]) => blocks.some((block) => path === block || path.startsWith(`${block}.`));
  return isIn([...AT_START, ...slices.filter(({ needsRestart }) => needsRestart).map(({ key }) => key)]) && !isIn(LIVE);
}

/** Whether two paths are the same, or one is that of a block which contains the other. */
export function overlap(one: string, other: string): boolean {
  return `${one}.`.startsWith(`${other}.`) || `${other}.`.startsWith(`${one}.`);
}

/** Blocks whose values may be secret, also where no key says so. */
const MAY_BE_SECRET = ['body', 'format', 'headers', 'password', 'query', 'secret'];

/** Returns a short hash of settings without their secrets, by which processes are compared. */
export function settingsHash(settings: object): string {
  const shown = JSON.stringify(settings, (key, value) => (MAY_BE_SECRET.includes(key) ? undefined : value));
  return hash('sha256', shown).slice(0, 12);
}
