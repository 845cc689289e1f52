import { type Config, offeredIn } from '../../core/config/schema/settings.ts';
import { ERRORS } from '../../core/kernel/error-table.ts';
import type { Events } from '../../core/kernel/events.ts';
import { describeFinding } from '../../core/mapping/mapper.ts';
import { define } from '../../core/resources/resource.ts';
import type { CapabilityContext } from '../capability.ts';
import { createCounts, createHistory, sumOf } from './recent-counts.ts';
import { type Trouble, troubleOf } from './troubles.ts';

export type ResourceStatus = ReturnType<ReturnType<typeof createRequestStatus>['resources']>[number];

/** Codes of errors that are not the caller's. */
const OWN_FAILURES: ReadonlySet<string | undefined> = new Set(
  Object.entries(ERRORS).flatMap(([code, { status }]) => (code.startsWith('upstream_') || status >= 500 ? [code] : [])),
);

/** From which share of failed reads on there is a trouble, as the alert has it. */
const MAX_FAILED = 0.05;

/** Counts requests and the reads of each resource, and keeps the last load of each. `time` returns now, in ISO 8601. */
export function createRequestStatus({ now, resources }: CapabilityContext, time: () => string) {
  const requests = createHistory(now);
  const lists = new Map<string, ReturnType<typeof createList>>();

  function listOf(resource: string) {
    const list = lists.get(resource) ?? createList(now);
    lists.set(resource, list);
    return list;
  }

  const events: Events = {
    requestEnded({ ms, headMs = ms, outcome, error }) {
      requests.add(headMs, OWN_FAILURES.has(outcome) || OWN_FAILURES.has(error?.code));
    },
    readEnded({ resource, error, staleFor }) {
      const list = listOf(resource);
      const failure = OWN_FAILURES.has(error) ? error : staleFor;
      if (failure !== undefined) list.lastFailure = { at: time(), code: failure };
      if (staleFor !== undefined) list.staleSince ??= time();
      list.counts.add(failure === undefined ? 'served' : staleFor === undefined ? failure : 'stale');
    },
    loadEnded({ resource, error }) {
      if (error === undefined) listOf(resource).staleSince = null;
    },
    listLoaded({ resource, items, received, dropped }) {
      const warnings = dropped > 0 ? [`${dropped} of ${received} items could not be mapped`] : [];
      Object.assign(listOf(resource), { items, loadedAt: time(), warnings });
    },
    mappingWarning(warning) {
      // A list with hidden text is right, and complete.
      if (warning.finding !== 'hidden_text') listOf(warning.resource).warnings.push(describeFinding(warning));
    },
  };

  return {
    events,
    requests: () => ({ requests: requests.total(), lastMinute: requests.lastMinute() }),
    resources(config: Config) {
      return offeredIn(config, resources).map(({ resource, settings: { upstream } }) => {
        const { name } = resource;
        const { counts, staleSince, ...facts } = listOf(name);
        const reads = readsOf(counts.total());
        return {
          ...{ name, uri: define(resource, config.scheme).uri, upstream, ...facts },
          ...{ reads, lastMinute: readsOf(counts.lastMinute()) },
          /** Since when reads are served stale because of an error; `null` where none is. */
          staleSince: reads.stale > 0 ? staleSince : null,
        };
      });
    },
  };
}

function createList(now: () => number) {
  return {
    counts: createCounts(now),
    /** `null` before the first load. */
    loadedAt: null as string | null,
    items: null as number | null,
    warnings: [] as string[],
    /** That is not because of a caller. */
    lastFailure: null as { readonly at: string; readonly code: string } | null,
    staleSince: null as string | null,
  };
}

/** `failed`: not because of the caller, most often with the code `error`. `stale`: because of an error. */
function readsOf({ served = 0, stale = 0, ...codes }: ReturnType<ReturnType<typeof createCounts>['total']>) {
  const failed = sumOf(codes);
  const byCount = Object.keys(codes).sort((one, other) => (codes[one] ?? 0) - (codes[other] ?? 0));
  return { reads: served + failed + stale, failed, stale, error: byCount.at(-1) ?? null };
}

/** Returns the troubles of one resource. */
export function* resourceTroubles(resource: ResourceStatus): Generator<Trouble> {
  const { name, lastMinute, staleSince, lastFailure, warnings } = resource;
  const { reads, failed, error } = lastMinute;
  const code = lastFailure?.code;
  if (failed > MAX_FAILED * reads) {
    const isOwnCredential = error === 'upstream_credential_rejected';
    const alert = isOwnCredential ? 'PorticoOwnCredentialRefused' : 'PorticoReadsFailing';
    yield troubleOf('red', alert, name, `${failed} of ${reads} reads failed in the last minute (${error})`);
  }
  if (staleSince !== null) yield troubleOf('amber', 'PorticoServingStale', name, `served stale (${code})`, staleSince);
  if (warnings.length > 0) yield troubleOf('amber', 'PorticoMappingWarning', name, warnings.join(', '));
}
