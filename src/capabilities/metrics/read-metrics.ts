import type { Events } from '../../core/kernel/events.ts';
import type { Families } from './families.ts';

/** Settings that bound the snapshots. */
export interface SnapshotBounds {
  readonly maxBytes: number;
  readonly maxEntries: number;
}

const CACHE_RESULTS = ['hit', 'shared', 'stale', 'miss', 'refreshed', 'collapsed', 'bypass'];

/** Reads of resources, the snapshots that serve them, and the lists that are loaded for them. */
export function readMetrics({ counter, gauge, histogram }: Families, bounds: SnapshotBounds): Events {
  const reads = counter(
    'portico_reads_total',
    'Reads of resources over HTTP, in JSON-RPC and for subscriptions, by cache result or by the code of the error.',
    ['resource', 'cache', 'error_type'],
  );
  const staleOnError = counter(
    'portico_reads_stale_if_error_total',
    'Reads that were served stale because of an error: it failed the read itself, or the last background load.',
    ['resource', 'error_type'],
  );
  const joined = counter('portico_flights_joined_total', 'Reads that waited for the load of another read.', [
    'resource',
  ]);
  const loads = histogram(
    'portico_load_duration_seconds',
    'Loads of whole lists, with all pages and the waits before them.',
    ['resource', 'error_type'],
  );
  const refreshes = counter('portico_refresh_failures_total', 'Background loads behind a stale read that failed.', [
    'resource',
  ]);
  const stored = counter(
    'portico_snapshots_stored_total',
    'Snapshots that were stored; renewed: the upstream reported that the list had not changed.',
    ['resource', 'renewed'],
  );
  const evicted = counter(
    'portico_snapshots_evicted_total',
    'Snapshots that were evicted: to make room, or because the upstream refused access (the code of its error).',
    ['resource', 'reason'],
  );
  const heldBytes = gauge(
    'portico_snapshots_held_bytes',
    'Memory of all snapshots with their representations, as cache.maxBytes counts it.',
  );
  const held = gauge('portico_snapshots_held', 'Snapshots of all callers and resources.');
  const maxBytes = gauge('portico_snapshots_max_bytes', 'The setting cache.maxBytes.');
  const maxEntries = gauge('portico_snapshots_max', 'The bound cache.maxEntries.');
  const pages = counter('portico_list_pages_total', 'Pages of the lists that were loaded whole.', ['resource']);
  const items = counter(
    'portico_list_items_total',
    'Items of the lists that were loaded whole: kept, excluded by where, or dropped because they could not be mapped.',
    ['resource', 'outcome'],
  );
  const defaulted = counter('portico_fields_defaulted_total', 'Items in which a field took its default.', [
    'resource',
    'field',
  ]);
  const warnings = counter(
    'portico_mapping_doubts_total',
    'Lists whose mapping is probably wrong: a field was empty in every item, a change since the last list, nothing was left of a reply, or an id occurred twice. Also lists with hidden characters.',
    ['resource', 'finding', 'field'],
  );
  maxBytes({}, bounds.maxBytes);
  maxEntries({}, bounds.maxEntries);

  return {
    resourcesOffered({ resources }) {
      for (const resource of resources) {
        for (const cache of CACHE_RESULTS) reads({ resource, cache }, 0);
        for (const count of [joined, refreshes, pages]) count({ resource }, 0);
        for (const renewed of ['true', 'false']) stored({ resource, renewed }, 0);
        evicted({ resource, reason: 'room' }, 0);
        for (const outcome of ['kept', 'excluded', 'dropped']) items({ resource, outcome }, 0);
      }
    },
    readEnded({ resource, cache, error, staleFor }) {
      reads({ resource, cache, error_type: error });
      if (staleFor !== undefined) staleOnError({ resource, error_type: staleFor });
    },
    flightJoined: ({ resource }) => joined({ resource }),
    loadEnded: ({ resource, ms, error }) => loads({ resource, error_type: error }, ms),
    refreshFailed: ({ resource }) => refreshes({ resource }),
    snapshotStored: ({ resource, renewed }) => stored({ resource, renewed: String(renewed) }),
    snapshotEvicted: ({ resource, code }) => evicted({ resource, reason: code }),
    snapshotDisplaced: ({ resource }) => evicted({ resource, reason: 'room' }),
    snapshotsHeld({ bytes, entries }) {
      heldBytes({}, bytes);
      held({}, entries);
    },
    listLoaded({ resource, ...list }) {
      pages({ resource }, list.pages);
      items({ resource, outcome: 'kept' }, list.items);
      items({ resource, outcome: 'excluded' }, list.excluded);
      items({ resource, outcome: 'dropped' }, list.dropped);
      for (const [field, count] of list.defaulted) defaulted({ resource, field }, count);
    },
    mappingWarning: ({ resource, finding, field }) => warnings({ resource, finding, field }),
  };
}
