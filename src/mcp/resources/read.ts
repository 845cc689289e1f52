import type { Load } from '../../snapshots/load.ts';

/** What `resources/read` answers: the snapshot's bytes as they are. */
export function resourceContents(uri: string, { snapshot }: Load) {
  return [{ uri, mimeType: 'application/json', text: snapshot.bytes.toString() }];
}

/** How long a client may keep what it was given: for the rest of its freshness, in milliseconds. */
export function remainingTtlMs({ cached }: Load, now: number): number {
  if (cached === undefined || cached.failure !== undefined) return 0;
  return Math.max(0, Math.floor(cached.freshUntil - now));
}
