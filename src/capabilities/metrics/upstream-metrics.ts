import type { Events, UpstreamRef } from '../../core/kernel/events.ts';
import { STATUS_CODES } from '../../core/kernel/node-http.ts';
import type { Families } from './families.ts';

const STATES = ['closed', 'open', 'half-open'] as const;

/** Requests to upstreams, and what protects these. */
export function upstreamMetrics({ counter, gauge, histogram }: Families): Events {
  const requests = histogram(
    'http_client_request_duration_seconds{upstream,http_request_method,http_response_status_code,error_type}',
    'Requests to upstreams, each attempt by itself, until the body was read.',
  );
  const received = counter('portico_upstream_body_bytes_total{upstream}', 'Bytes of upstream bodies, decompressed.');
  const retries = counter('portico_upstream_retries_total{upstream}', 'Requests to upstreams that were retried.');
  const refused = counter(
    'portico_upstream_calls_refused_total{upstream,code}',
    'Calls that were not made: the breaker was open, the queue was full, or the token was rejected a moment ago.',
  );
  const breakerState = gauge(
    'portico_breaker_state{upstream,state}',
    'State of the circuit breaker: 1 for the current state, 0 for the others.',
    'max',
  );
  const breakerChanges = counter(
    'portico_breaker_changes_total{upstream,state}',
    'Transitions of the circuit breaker, by new state.',
  );
  const running = gauge('portico_bulkhead_running{upstream}', 'Calls that have a slot of the bulkhead.');
  const waiting = gauge('portico_bulkhead_waiting{upstream}', 'Calls that wait for a slot of the bulkhead.');
  const slots = gauge('portico_bulkhead_slots{upstream}', 'The setting connections.');
  const maxWaiting = gauge('portico_bulkhead_max_waiting{upstream}', 'The bound maxQueue.');
  const waits = histogram('portico_bulkhead_wait_seconds{upstream}', 'Waits of calls for a slot of the bulkhead.');
  const unsolicited = counter(
    'portico_upstream_unsolicited_responses_total{upstream}',
    'Times that an upstream sent unsolicited bytes, counted at most once in ten minutes.',
  );

  /** Open instances by name: after a reload, the replaced one finishes what it has begun. */
  const open = new Map<string, (symbol | undefined)[]>();
  /** A replaced instance must not overwrite the gauges of its successor. */
  const isCurrent = ({ upstream, opening }: UpstreamRef) => open.get(upstream)?.at(-1) === opening;
  const setState = (upstream: string, current: string) => {
    for (const state of STATES) breakerState(state === current ? 1 : 0, upstream, state);
  };

  return {
    upstreamOpened({ upstream, opening, connections, maxQueue }) {
      open.set(upstream, [...(open.get(upstream) ?? []), opening]);
      for (const metric of [received, retries, unsolicited, running, waiting]) metric(0, upstream);
      slots(connections, upstream);
      maxWaiting(maxQueue, upstream);
      for (const code of ['breaker_open', 'overloaded', 'credential_rejected']) refused(0, upstream, code);
      for (const state of STATES) breakerChanges(0, upstream, state);
      setState(upstream, 'closed');
    },
    upstreamClosed({ upstream, opening }) {
      const left = (open.get(upstream) ?? []).filter((one) => one !== opening);
      open.set(upstream, left);
      if (left.length > 0) return;
      for (const state of STATES) breakerState(undefined, upstream, state);
      for (const set of [running, waiting, slots, maxWaiting]) set(undefined, upstream);
    },
    pageFetched({ upstream, method, ms, bytes, status, error }) {
      requests(ms, upstream, method, status === undefined || status in STATUS_CODES ? status : '_OTHER', error);
      received(bytes, upstream);
    },
    retried: ({ upstream }) => retries(1, upstream),
    callRefused: ({ upstream, code }) => refused(1, upstream, code),
    breakerChanged(changed) {
      const { upstream, state } = changed;
      if (isCurrent(changed)) setState(upstream, state);
      breakerChanges(1, upstream, state);
    },
    bulkheadEntered: ({ upstream, waitedMs }) => waits(waitedMs, upstream),
    bulkheadChanged(changed) {
      if (!isCurrent(changed)) return;
      running(changed.running, changed.upstream);
      waiting(changed.waiting, changed.upstream);
    },
    unsolicitedResponse: ({ upstream }) => unsolicited(1, upstream),
  };
}
