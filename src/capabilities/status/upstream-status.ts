import type { Config } from '../../core/config/schema/settings.ts';
import type { Events } from '../../core/kernel/events.ts';
import { createCounts, createHistory, sumOf } from './history.ts';
import type { Failure, UpstreamStatus } from './status-view.ts';

/** Codes with which an upstream judges a caller, rather than fails. */
const JUDGEMENTS: readonly (string | undefined)[] = ['credential_rejected', 'access_denied'];

/** Counts the calls of each upstream. `time` returns now, in ISO 8601. */
export function createUpstreamStatus(now: () => number, time: () => string) {
  const upstreams = new Map<string, Calls>();

  function callsOf(upstream: string): Calls {
    const calls = upstreams.get(upstream) ?? createCalls(now);
    upstreams.set(upstream, calls);
    return calls;
  }

  const events: Events = {
    upstreamOpened({ upstream, opening, maxQueue }) {
      const calls = callsOf(upstream);
      calls.instances.set(opening, { breaker: 'closed', waiting: 0 });
      calls.maxQueue = maxQueue;
    },
    upstreamClosed({ upstream, opening }) {
      callsOf(upstream).instances.delete(opening);
    },
    breakerChanged({ upstream, opening, state, failures }) {
      const calls = callsOf(upstream);
      const instance = calls.instances.get(opening);
      if (instance === undefined) return;
      if (instance.breaker === 'closed') calls.opened = { since: time(), failures, cause: calls.cause };
      instance.breaker = state;
    },
    bulkheadChanged({ upstream, opening, waiting }) {
      const instance = callsOf(upstream).instances.get(opening);
      if (instance !== undefined) instance.waiting = waiting;
    },
    pageFetched({ upstream, ms, status = 0, error, reason = null, causes = [] }) {
      const calls = callsOf(upstream);
      const isFailure = error !== undefined && !JUDGEMENTS.includes(error);
      calls.history.add(ms, isFailure);
      if (!isFailure) return;
      calls.lastFailure = { at: time(), code: error, reason, causes };
      calls.cause = status >= 400 ? `${status}` : (causes.at(-1)?.split(' ').at(-1) ?? error);
    },
    // Each page was valid by itself.
    loadEnded({ upstream, error, reason = null }) {
      if (error !== 'upstream_invalid') return;
      callsOf(upstream).lastFailure = { at: time(), code: error, reason, causes: [] };
    },
    callRefused: ({ upstream, code }) => callsOf(upstream).refused.add(code),
  };

  return {
    events,
    /** Those of settings first, in their order. */
    status({ upstreams: configured }: Config): UpstreamStatus[] {
      const names = [...new Set([...Object.keys(configured), ...upstreams.keys()])];
      return names
        .filter((name) => callsOf(name).instances.size > 0)
        .map((name) => ({ name, ...statusOf(callsOf(name)) }));
    },
  };
}

type Calls = ReturnType<typeof createCalls>;

/** Calls of one upstream. After a reload it can have two instances for a while. */
function createCalls(now: () => number) {
  return {
    instances: new Map<symbol | undefined, { breaker: string; waiting: number }>(),
    history: createHistory(now),
    /** Calls that were not made, by the code of their error. */
    refused: createCounts(now),
    maxQueue: 0,
    opened: null as UpstreamStatus['opened'],
    lastFailure: null as Failure | null,
    /** What the last failure is called in the verdict. */
    cause: 'failure',
  };
}

function statusOf({ instances, history, refused, opened, maxQueue: max, lastFailure }: Calls) {
  const all = [...instances.values()];
  const breaker = all.at(-1)?.breaker ?? 'closed';
  const refusals = refused.total();
  const { breaker_open: byBreaker = 0, credential_rejected: token = 0, overloaded: queue = 0 } = refusals;
  return {
    ...{ breaker, opened: breaker === 'closed' ? null : opened, lastFailure },
    ...{ total: history.total(), lastMinute: history.lastMinute(), history: history.slots() },
    ...{ refused: sumOf(refusals), refusedBy: { breaker: byBreaker, queue, token } },
    queue: { waiting: all.reduce((sum, { waiting }) => sum + waiting, 0), max },
  };
}
