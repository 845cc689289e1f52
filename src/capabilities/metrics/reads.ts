import type { Events } from '../../core/kernel/events.ts';
import type { Families } from './families.ts';

/** What settings say of the snapshots that may be held. */
export interface SnapshotBounds {
  readonly maxBytes: number;
  readonly maxEntries: number;
}

const OUTCOMES = ['hit', 'shared', 'stale', 'miss', 'refreshed', 'collapsed', 'bypass'];

/** Reads of resources, the snapshots that serve them, and the lists that are loaded for them. */
export function readMetrics(families: Families, bounds: SnapshotBounds): Events {
  const labels = ['resource'] as const;
  const reads = families.counter({
    name: 'portico_reads_total',
    help: 'Reads of resources, over HTTP and in JSON-RPC: what the cache had to do with it, or the code of the error.',
    labels: ['resource', 'cache', 'error_type'],
  });
  const joined = families.counter({
    name: 'portico_flights_joined_total',
    help: 'Reads that waited for the load of another.',
    labels,
  });
  const loads = families.histogram({
    name: 'portico_load_duration_seconds',
    help: 'Loads of whole lists, all pages and the waits before them together.',
    labels: ['resource', 'error_type'],
  });
  const refreshes = families.counter({
    name: 'portico_refresh_failures_total',
    help: 'Loads behind a stale read that failed: no request of its own tells of them.',
    labels,
  });
  const stored = families.counter({
    name: 'portico_snapshots_stored_total',
    help: 'Snapshots that were stored; renewed where the upstream said that the list is what it was.',
    labels: ['resource', 'renewed'],
  });
  const evicted = families.counter({
    name: 'portico_snapshots_evicted_total',
    help: 'Snapshots let go of: to make room, or since the upstream refused to show them (the code of its error).',
    labels: ['resource', 'reason'],
  });
  const held = families.gauge({
    name: 'portico_snapshots_held_bytes',
    help: 'What is held of all callers and resources, with all that was made of it, as cache.maxBytes counts it.',
  });
  const entries = families.gauge({ name: 'portico_snapshots_held', help: 'Snapshots of all callers and resources.' });
  const maxBytes = families.gauge({ name: 'portico_snapshots_max_bytes', help: 'The setting cache.maxBytes.' });
  const maxEntries = families.gauge({ name: 'portico_snapshots_max', help: 'The setting cache.maxEntries.' });
  const pages = families.counter({
    name: 'portico_list_pages_total',
    help: 'Pages of the lists that were loaded whole.',
    labels,
  });
  const items = families.counter({
    name: 'portico_list_items_total',
    help: 'Items of the lists that were loaded whole: kept, excluded by where, or dropped since they could not be mapped.',
    labels: ['resource', 'outcome'],
  });
  const defaulted = families.counter({
    name: 'portico_fields_defaulted_total',
    help: 'Items of which a field took its default.',
    labels: ['resource', 'field'],
  });
  const doubts = families.counter({
    name: 'portico_mapping_doubts_total',
    help: 'Lists whose mapping is most likely wrong: a field was empty in each item, nothing was left of a reply, or an id occurred twice.',
    labels: ['resource', 'finding', 'field'],
  });

  maxBytes.at().value = bounds.maxBytes;
  maxEntries.at().value = bounds.maxEntries;
  for (const each of [held, entries]) each.at();

  return {
    resourcesOffered({ resources }) {
      // So that the first count is seen to be one.
      for (const resource of resources) {
        for (const cache of OUTCOMES) reads.at(resource, cache, undefined);
        for (const family of [joined, refreshes, pages]) family.at(resource);
        for (const renewed of ['true', 'false']) stored.at(resource, renewed);
        evicted.at(resource, 'room');
        for (const outcome of ['kept', 'excluded', 'dropped']) items.at(resource, outcome);
      }
    },
    readEnded({ resource, cache, error }) {
      reads.at(resource, cache, error).value += 1;
    },
    flightJoined({ resource }) {
      joined.at(resource).value += 1;
    },
    loadEnded({ resource, ms, error }) {
      loads.at(resource, error).observe(ms / 1000);
    },
    refreshFailed({ resource }) {
      refreshes.at(resource).value += 1;
    },
    snapshotStored({ resource, renewed }) {
      stored.at(resource, String(renewed)).value += 1;
    },
    snapshotEvicted({ resource, code }) {
      evicted.at(resource, code).value += 1;
    },
    snapshotDisplaced({ resource }) {
      evicted.at(resource, 'room').value += 1;
    },
    snapshotsHeld(now) {
      held.at().value = now.bytes;
      entries.at().value = now.entries;
    },
    listLoaded(list) {
      const { resource } = list;
      pages.at(resource).value += list.pages;
      items.at(resource, 'kept').value += list.items;
      items.at(resource, 'excluded').value += list.excluded;
      items.at(resource, 'dropped').value += list.dropped;
      for (const [field, count] of list.defaulted) defaulted.at(resource, field).value += count;
    },
    mappingDoubted({ resource, finding, field }) {
      doubts.at(resource, finding, field).value += 1;
    },
  };
}
