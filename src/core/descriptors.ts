import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import type { Config } from './config/schema/settings.ts';

/** Descriptors of the process itself: event loop, files, name resolution, Redis, collector, issuer. */
const OWN_DESCRIPTORS = 64;
/** Part of a small limit that clients have all the same. */
const LEAST_SHARE = 1 / 4;

/** Returns the soft limit of proc(5); `undefined` where it is unlimited or cannot be read. */
export function readDescriptorLimit(): number | undefined {
  try {
    const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    return undefined;
  }
}

/** Returns `undefined` where proc(5) does not exist. */
export async function countDescriptors(): Promise<number | undefined> {
  return (await readdir('/proc/self/fd').catch(() => undefined))?.length;
}

/** Returns the cap below `http.maxConnections`, if any: the system resets what comes when no descriptor is free. */
export function capConnections(
  { http: { maxConnections: configured }, admin, upstreams }: Config,
  adminConnections: number,
  maxDescriptors: number | undefined,
) {
  if (maxDescriptors === undefined) return undefined;
  const toUpstreams = Object.values(upstreams).reduce((sum, { connections }) => sum + connections, 0);
  const reserve = OWN_DESCRIPTORS + toUpstreams + (admin.enabled ? adminConnections : 0);
  const share = Math.ceil(maxDescriptors * LEAST_SHARE);
  const maxConnections = Math.max(share, maxDescriptors - reserve);
  return maxConnections < configured ? { maxConnections, configured, maxDescriptors } : undefined;
}
