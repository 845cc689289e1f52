import type { Events, UpstreamRef } from '../../core/kernel/events.ts';
import { STATUS_CODES } from '../../core/kernel/node-http.ts';
import type { Families } from './families.ts';

const STATES = ['closed', 'open', 'half-open'] as const;

/** Requests to upstreams, and what protects these. */
export function upstreamMetrics({ counter, gauge, histogram }: Families): Events {
  const requests = histogram(
    'http_client_request_duration_seconds',
    'Requests to upstreams, each attempt by itself, until the body was read.',
    ['upstream', 'http_request_method', 'http_response_status_code', 'error_type'],
  );
  const received = counter('portico_upstream_body_bytes_total', 'Bytes of upstream bodies, decompressed.', [
    'upstream',
  ]);
  const retries = counter('portico_upstream_retries_total', 'Requests to upstreams that were retried.', ['upstream']);
  const refused = counter(
    'portico_upstream_calls_refused_total',
    'Calls that were not made: the breaker was open, the queue was full, or the token was rejected a moment ago.',
    ['upstream', 'code'],
  );
  const breakerState = gauge(
    'portico_breaker_state',
    'State of the circuit breaker: 1 for the current state, 0 for the others.',
    ['upstream', 'state'],
  );
  const breakerChanges = counter('portico_breaker_changes_total', 'Transitions of the circuit breaker, by new state.', [
    'upstream',
    'state',
  ]);
  const running = gauge('portico_bulkhead_running', 'Calls that have a slot of the bulkhead.', ['upstream']);
  const waiting = gauge('portico_bulkhead_waiting', 'Calls that wait for a slot of the bulkhead.', ['upstream']);
  const slots = gauge('portico_bulkhead_slots', 'The setting connections.', ['upstream']);
  const maxWaiting = gauge('portico_bulkhead_max_waiting', 'The bound maxQueue.', ['upstream']);
  const waits = histogram('portico_bulkhead_wait_seconds', 'Waits of calls for a slot of the bulkhead.', ['upstream']);
  const unsolicited = counter(
    'portico_upstream_unsolicited_responses_total',
    'Times that an upstream sent unsolicited bytes, counted at most once in ten minutes.',
    ['upstream'],
  );

  /** Open instances by name: after a reload, the replaced one finishes what it has begun. */
  const open = new Map<string, (symbol | undefined)[]>();
  /** A replaced instance must not overwrite the gauges of its successor. */
  const isCurrent = ({ upstream, opening }: UpstreamRef) => open.get(upstream)?.at(-1) === opening;
  const setState = (upstream: string, current: string) => {
    for (const state of STATES) breakerState({ upstream, state }, state === current ? 1 : 0);
  };

  return {
    upstreamOpened({ upstream, opening, connections, maxQueue }) {
      open.set(upstream, [...(open.get(upstream) ?? []), opening]);
      for (const count of [received, retries, unsolicited]) count({ upstream }, 0);
      for (const set of [running, waiting]) set({ upstream }, 0);
      slots({ upstream }, connections);
      maxWaiting({ upstream }, maxQueue);
      for (const code of ['breaker_open', 'overloaded', 'credential_rejected']) refused({ upstream, code }, 0);
      for (const state of STATES) breakerChanges({ upstream, state }, 0);
      setState(upstream, 'closed');
    },
    upstreamClosed({ upstream, opening }) {
      const left = (open.get(upstream) ?? []).filter((one) => one !== opening);
      open.set(upstream, left);
      if (left.length > 0) return;
      for (const state of STATES) breakerState({ upstream, state }, undefined);
      for (const set of [running, waiting, slots, maxWaiting]) set({ upstream }, undefined);
    },
    pageFetched({ upstream, method, ms, bytes, status, error }) {
      const known = status === undefined || status in STATUS_CODES ? status : '_OTHER';
      requests({ upstream, http_request_method: method, http_response_status_code: known, error_type: error }, ms);
      received({ upstream }, bytes);
    },
    retried: ({ upstream }) => retries({ upstream }),
    callRefused: ({ upstream, code }) => refused({ upstream, code }),
    breakerChanged(changed) {
      const { upstream, state } = changed;
      if (isCurrent(changed)) setState(upstream, state);
      breakerChanges({ upstream, state });
    },
    bulkheadEntered: ({ upstream, waitedMs }) => waits({ upstream }, waitedMs),
    bulkheadChanged({ upstream, opening, ...now }) {
      if (!isCurrent({ upstream, opening })) return;
      running({ upstream }, now.running);
      waiting({ upstream }, now.waiting);
    },
    unsolicitedResponse: ({ upstream }) => unsolicited({ upstream }),
  };
}
