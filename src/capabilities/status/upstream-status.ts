import type { Config } from '../../core/config/schema/settings.ts';
import type { Events } from '../../core/kernel/events.ts';
import { createCounts, createHistory, sumOf } from './recent-counts.ts';
import type { Troubles } from './troubles.ts';

export interface Failure {
  readonly at: string;
  /** Code of the error table. */
  readonly code: string;
  readonly reason: string | null;
  /** Names and codes of the errors behind it. */
  readonly causes: readonly string[];
}

/** Codes of calls that are no failures of the upstream: it judged a caller, or Portico had no memory for its pages. */
const NO_FAILURES: readonly (string | undefined)[] = ['credential_rejected', 'access_denied', 'overloaded'];

/** Counts the calls of each upstream. `time` returns now, in ISO 8601. */
export function createUpstreamStatus(now: () => number, time: () => string, hold: Troubles['hold']) {
  const upstreams = new Map<string, ReturnType<typeof createCalls>>();

  function callsOf(upstream: string) {
    const calls = upstreams.get(upstream) ?? createCalls(now);
    upstreams.set(upstream, calls);
    return calls;
  }

  function setBreaker(upstream: string, breaker: string, why?: string, over?: string): void {
    callsOf(upstream).breaker = breaker;
    // A half-open breaker lets one call try, and then opens or closes.
    if (breaker !== 'half-open') hold('PorticoBreakerOpen', upstream, 'breaker open', why, over);
  }

  const events: Events = {
    // After a reload, the replaced instance finishes its calls beside the new one.
    upstreamOpened({ upstream, instanceId }) {
      callsOf(upstream).instanceId = instanceId;
      setBreaker(upstream, 'closed');
    },
    upstreamClosed({ upstream, instanceId }) {
      if (callsOf(upstream).instanceId !== instanceId) return;
      setBreaker(upstream, 'closed');
      upstreams.delete(upstream);
    },
    breakerChanged({ upstream, instanceId, state, reason = 'calls failed' }) {
      if (callsOf(upstream).instanceId !== instanceId) return;
      setBreaker(upstream, state, state === 'closed' ? undefined : reason, 'breaker closed');
    },
    pageFetched({ upstream, ms, error, reason = null, causes = [] }) {
      const isFailure = error !== undefined && !NO_FAILURES.includes(error);
      callsOf(upstream).history.add(ms, isFailure);
      if (isFailure) callsOf(upstream).lastFailure = { at: time(), code: error, reason, causes };
    },
    // Each page was valid by itself.
    loadEnded({ upstream, error, reason = null }) {
      if (error === 'upstream_invalid') callsOf(upstream).lastFailure = { at: time(), code: error, reason, causes: [] };
    },
    callRefused: ({ upstream, code }) => callsOf(upstream).refused.add(code),
  };

  return {
    events,
    /** Upstreams in settings, in their order, then other servers that these depend on. */
    status({ upstreams: configured }: Config) {
      const names = [...new Set([...Object.keys(configured), ...upstreams.keys()])].filter((name) =>
        upstreams.has(name),
      );
      return names.map((name) => {
        const { breaker, lastFailure, history, refused } = callsOf(name);
        return {
          ...{ name, breaker, lastFailure, total: history.total(), lastMinute: history.lastMinute() },
          /** Calls that were not made: the breaker was open, the queue was full, or the token was rejected a moment ago. */
          refused: sumOf(refused.total()),
        };
      });
    },
  };
}

function createCalls(now: () => number) {
  return {
    /** The instance in use. */
    instanceId: undefined as symbol | undefined,
    breaker: 'closed',
    history: createHistory(now),
    refused: createCounts(now),
    /** `null`: none since the start. The rejection of a caller is not a failure. */
    lastFailure: null as Failure | null,
  };
}
