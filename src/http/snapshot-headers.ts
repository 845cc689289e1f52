import type { Load } from '../snapshots/load.ts';
import type { Snapshot } from '../snapshots/snapshot.ts';
import { cacheHeaders } from './cache-headers.ts';

/** What stands with a snapshot, be it sent or not (304). */
export function snapshotHeaders({ etag }: Snapshot): Record<string, string> {
  return { ETag: etag, Vary: 'Authorization, Accept-Encoding' };
}

/** What stands with the snapshot of a load at `now`, in milliseconds since the epoch. */
export function loadHeaders(load: Load, now: number): Record<string, string> {
  const headers = { ...snapshotHeaders(load.snapshot), ...cacheHeaders(load, now) };
  if (load.dropped > 0) headers['Portico-Dropped-Items'] = String(load.dropped);
  return headers;
}
