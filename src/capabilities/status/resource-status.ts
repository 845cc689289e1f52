import { ERRORS } from '../../core/kernel/error-table.ts';
import type { Events } from '../../core/kernel/events.ts';
import { createHistory, type Period } from './history.ts';
import type { Failure, MappingWarning, ReadCounts, ResourceStatus } from './status-view.ts';

type Counted = Omit<ResourceStatus, 'name' | 'uri' | 'upstream'>;

interface LastLoad {
  readonly loadedAt: string;
  readonly items: number;
  readonly warnings: MappingWarning[];
}

const ROWS: Readonly<Record<string, { readonly status: number } | undefined>> = ERRORS;

/** Returns whether an error is not the caller's, by its code in the error table. */
export function isOwnFailure(code = ''): boolean {
  return code.startsWith('upstream_') || (ROWS[code]?.status ?? 0) >= 500;
}

/** Counts the reads of one resource, and keeps its last load. `time` returns now, in ISO 8601. */
export function createResourceStatus(now: () => number, time: () => string) {
  const reads = createHistory(now);
  /** Those that fail here are served because of an error. */
  const stale = createHistory(now);
  let load: LastLoad | undefined;
  let staleSince: string | null = null;
  let lastFailure: Failure | null = null;

  function fail(code: string, reason: string | null): void {
    const isKnown = reason === null && lastFailure?.code === code;
    lastFailure = isKnown && lastFailure ? { ...lastFailure, at: time() } : { at: time(), code, reason, causes: [] };
  }

  const countsOf = (all: Period, old: Period): ReadCounts => ({
    ...{ reads: all.requests, failed: all.failures, stale: old.requests, staleOnError: old.failures },
  });

  const events = {
    readEnded({ cache, error, staleFor }) {
      reads.add(0, isOwnFailure(error));
      if (error !== undefined && isOwnFailure(error)) fail(error, null);
      if (cache === 'stale' || staleFor !== undefined) stale.add(0, staleFor !== undefined);
      if (staleFor !== undefined) staleSince ??= time();
    },
    loadEnded({ error, reason = null }) {
      if (error === undefined) staleSince = null;
      else if (isOwnFailure(error)) fail(error, reason);
    },
    listLoaded({ items, received, dropped }) {
      const warnings: MappingWarning[] = dropped > 0 ? [{ finding: 'items_dropped', dropped, received }] : [];
      load = { loadedAt: time(), items, warnings };
    },
    mappingWarning({ finding, field }) {
      // The list is right, and complete.
      if (finding === 'hidden_text') return;
      load?.warnings.push({ finding, ...(field !== undefined && { field }) });
    },
  } satisfies Events;

  return {
    events,
    status(): Counted {
      const [all, old] = [reads.total(), stale.total()];
      return {
        ...(load ?? { loadedAt: null, items: null, warnings: [] }),
        reads: countsOf(all, old),
        lastMinute: countsOf(reads.lastMinute(), stale.lastMinute()),
        staleSince: old.failures > 0 ? staleSince : null,
        lastFailure,
      };
    },
  };
}
