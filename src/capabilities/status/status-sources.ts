import { certificatesIn } from '../../core/certificates.ts';
import type { Config } from '../../core/config/schema/settings.ts';
import { countDescriptors, readDescriptorLimit } from '../../core/descriptors.ts';
import { watchEventLoop } from '../../core/kernel/event-loop.ts';
import type { Events } from '../../core/kernel/events.ts';
import type { CapabilityContext } from '../capability.ts';
import { createCounts, createHistory, type Failure, sumOf } from './request-status.ts';

export type UpstreamStatus = ReturnType<ReturnType<typeof createUpstreamStatus>['status']>[number];

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
    /** Upstreams in settings, in their order, then other servers that these depend on. */
    status({ upstreams: configured }: Config) {
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
    refused: createCounts(now),
    maxQueue: 0,
    opened: null as { readonly since: string; readonly failures: number; readonly cause: string } | null,
    lastFailure: null as Failure | null,
    cause: 'failure',
  };
}

function statusOf({ instances, history, refused, opened, maxQueue: max, lastFailure }: Calls) {
  const all = [...instances.values()];
  const breaker = all.at(-1)?.breaker ?? 'closed';
  return {
    /** State of the circuit breaker; when it opened last, and after which failures: `null` while it is closed. */
    ...{ breaker, opened: breaker === 'closed' ? null : opened },
    /** `null`: none since the start. The rejection of a caller is not a failure. */
    lastFailure,
    ...{ total: history.total(), lastMinute: history.lastMinute() },
    /** Calls that were not made: the breaker was open, the queue was full, or the token was rejected a moment ago. */
    refused: sumOf(refused.total()),
    queue: { waiting: all.reduce((sum, { waiting }) => sum + waiting, 0), max },
  };
}

const LOOK_MS = 100;

export type ProcessStatus = Awaited<ReturnType<ReturnType<typeof createProcessStatus>['status']>>;

/** Observes connections, and from `listening` to `drained` the event loop and dropped lines. */
export function createProcessStatus({ now, droppedLogLines }: CapabilityContext) {
  const delays = createHistory(now);
  const connections = new Map<string, { readonly open: number; readonly max: number }>();
  let droppedAt: string | null = null;
  let dropped = 0;
  let stopWatching = () => {};

  function look(delayMs: number): void {
    delays.add(delayMs, false);
    const all = droppedLogLines?.() ?? 0;
    if (all > dropped) droppedAt = new Date(now()).toISOString();
    dropped = all;
  }

  const events: Events = {
    connectionsChanged({ listener, open, maxConnections: max }) {
      connections.set(listener, { open, max });
    },
    listening() {
      stopWatching = watchEventLoop(LOOK_MS, look);
    },
    drained: () => stopWatching(),
  };

  return {
    events,
    async status(config: Config) {
      return {
        /** Absent where they are not known. */
        descriptors: { open: await countDescriptors(), max: readDescriptorLimit() },
        connections: [...connections].map(([listener, counts]) => ({ listener, ...counts })),
        eventLoopMs: { lastMinute: delays.lastMinute().p95Ms, tenMinutes: delays.total().p95Ms },
        /** Certificates in use, by the setting that names their file. `to`: the end of validity; ISO 8601. */
        certificates: certificatesIn(config).map(({ block, file, to }) => {
          return { name: [...block, file].join('.'), to: new Date(to).toISOString() };
        }),
        /** Lines that were dropped since the start. `droppedAt`: when the last one was noticed; ISO 8601. */
        droppedLines: { log: dropped, droppedAt },
      };
    },
  };
}
