import type { Events } from '../../core/kernel/events.ts';
import { createHistory } from './history.ts';
import type { Failure, UpstreamStatus } from './status-view.ts';

/** Codes with which an upstream judges a caller, rather than fails. */
const JUDGEMENTS: readonly (string | undefined)[] = ['credential_rejected', 'access_denied'];

/** What refuses a call that is not made, by the code of its error. */
const REFUSED_BY = { breaker_open: 'breaker', overloaded: 'queue', credential_rejected: 'token' } as const;

/** Counts the calls of one upstream. After a reload it can have two instances for a while. */
export function createUpstreamStatus(now: () => number, time: () => string) {
  const breakers = new Map<symbol | undefined, string>();
  const waiting = new Map<symbol | undefined, number>();
  const calls = createHistory(now);
  const refused = { breaker: createHistory(now), queue: createHistory(now), token: createHistory(now) };
  let max = 0;
  let opened: UpstreamStatus['opened'] = null;
  let lastFailure: Failure | null = null;
  let cause = 'failure';

  const events = {
    upstreamOpened({ opening, maxQueue }) {
      breakers.set(opening, 'closed');
      max = maxQueue;
    },
    upstreamClosed({ opening }) {
      breakers.delete(opening);
      waiting.delete(opening);
    },
    breakerChanged({ opening, state, failures }) {
      const before = breakers.get(opening);
      if (before === undefined) return;
      breakers.set(opening, state);
      if (before === 'closed') opened = { since: time(), failures, cause };
    },
    bulkheadChanged({ opening, waiting: now }) {
      if (breakers.has(opening)) waiting.set(opening, now);
    },
    pageFetched({ ms, status = 0, error, reason = null, causes = [] }) {
      const isFailure = error !== undefined && !JUDGEMENTS.includes(error);
      calls.add(ms, isFailure);
      if (!isFailure) return;
      lastFailure = { at: time(), code: error, reason, causes };
      cause = status >= 400 ? `${status}` : (causes.at(-1)?.split(' ').at(-1) ?? error);
    },
    // Each page was valid by itself.
    loadEnded({ error, reason = null }) {
      if (error === 'upstream_invalid') lastFailure = { at: time(), code: error, reason, causes: [] };
    },
    callRefused({ code }) {
      refused[REFUSED_BY[code as keyof typeof REFUSED_BY] ?? 'queue'].add(0, true);
    },
  } satisfies Events;

  return {
    events,
    isOpen: () => breakers.size > 0,
    status(name: string): UpstreamStatus {
      const breaker = [...breakers.values()].at(-1) ?? 'closed';
      const refusedBy = {
        breaker: refused.breaker.total().requests,
        queue: refused.queue.total().requests,
        token: refused.token.total().requests,
      };
      return {
        ...{ name, breaker, opened: breaker === 'closed' ? null : opened },
        ...{ total: calls.total(), lastMinute: calls.lastMinute(), history: calls.slots() },
        refused: refusedBy.breaker + refusedBy.queue + refusedBy.token,
        refusedBy,
        queue: { waiting: [...waiting.values()].reduce((sum, one) => sum + one, 0), max },
        lastFailure,
      };
    },
  };
}
