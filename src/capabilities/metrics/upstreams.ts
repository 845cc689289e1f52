import type { Events, UpstreamRef } from '../../core/kernel/events.ts';
import { STATUS_CODES } from '../../core/kernel/node-http.ts';
import type { Families } from './families.ts';

const STATES = ['closed', 'open', 'half-open'] as const;

/** What upstreams are asked, and what spares them. */
export function upstreamMetrics(families: Families): Events {
  const labels = ['upstream'] as const;
  const requests = families.histogram({
    name: 'http_client_request_duration_seconds',
    help: 'Requests to upstreams, each attempt by itself, until the body has been read.',
    labels: ['upstream', 'http_request_method', 'http_response_status_code', 'error_type'],
  });
  const received = families.counter({
    name: 'portico_upstream_body_bytes_total',
    help: 'Bytes of the bodies that upstreams sent, decoded.',
    labels,
  });
  const retries = families.counter({
    name: 'portico_upstream_retries_total',
    help: 'Requests that were sent again.',
    labels,
  });
  const refused = families.counter({
    name: 'portico_upstream_calls_refused_total',
    help: 'Calls that were not made: the breaker is open, the queue full, or the token was rejected a moment ago.',
    labels: ['upstream', 'code'],
  });
  const state = families.gauge({
    name: 'portico_breaker_state',
    help: 'State of the circuit breaker: 1 for the one that it is in, 0 for the others.',
    labels: ['upstream', 'state'],
  });
  const changes = families.counter({
    name: 'portico_breaker_changes_total',
    help: 'Times that the circuit breaker came into a state.',
    labels: ['upstream', 'state'],
  });
  const running = families.gauge({
    name: 'portico_bulkhead_running',
    help: 'Calls that have a place in the bulkhead.',
    labels,
  });
  const waiting = families.gauge({ name: 'portico_bulkhead_waiting', help: 'Calls that wait for one.', labels });
  const slots = families.gauge({ name: 'portico_bulkhead_slots', help: 'The setting connections.', labels });
  const maxWaiting = families.gauge({
    name: 'portico_bulkhead_max_waiting',
    help: 'The setting maxQueue.',
    labels,
  });
  const waits = families.histogram({
    name: 'portico_bulkhead_wait_seconds',
    help: 'How long calls waited for their place.',
    labels,
  });
  const unsolicited = families.counter({
    name: 'portico_upstream_unsolicited_responses_total',
    help: 'Times that an upstream sent unsolicited bytes, counted at most once in ten minutes.',
    labels,
  });

  /** Those of a name that are open: after a change of settings, the one before ends what it has begun. */
  const open = new Map<string, (symbol | undefined)[]>();
  /** What one that was replaced is like is of no interest any more, and must not pass for what its successor is like. */
  const isLast = ({ upstream, opening }: UpstreamRef) => open.get(upstream)?.at(-1) === opening;
  const setState = (upstream: string, now: string) => {
    for (const each of STATES) state.at(upstream, each).value = each === now ? 1 : 0;
  };

  return {
    upstreamOpened({ upstream, opening, connections, maxQueue }) {
      open.set(upstream, [...(open.get(upstream) ?? []), opening]);
      for (const family of [received, retries, unsolicited, waits]) family.at(upstream);
      for (const family of [running, waiting]) family.at(upstream).value = 0;
      slots.at(upstream).value = connections;
      maxWaiting.at(upstream).value = maxQueue;
      for (const code of ['breaker_open', 'overloaded', 'credential_rejected']) refused.at(upstream, code);
      for (const each of STATES) changes.at(upstream, each);
      setState(upstream, 'closed');
    },
    upstreamClosed({ upstream, opening }) {
      const left = (open.get(upstream) ?? []).filter((one) => one !== opening);
      if (left.length > 0) {
        open.set(upstream, left);
        return;
      }
      open.delete(upstream);
      for (const family of [state, running, waiting, slots, maxWaiting]) family.forget(upstream);
    },
    pageFetched({ upstream, method, ms, bytes, status, error }) {
      requests.at(upstream, method, knownStatus(status), error).observe(ms / 1000);
      received.at(upstream).value += bytes;
    },
    retried({ upstream }) {
      retries.at(upstream).value += 1;
    },
    callRefused({ upstream, code }) {
      refused.at(upstream, code).value += 1;
    },
    breakerChanged(changed) {
      const { upstream, state: now } = changed;
      if (isLast(changed)) setState(upstream, now);
      changes.at(upstream, now).value += 1;
    },
    bulkheadEntered({ upstream, waitedMs }) {
      waits.at(upstream).observe(waitedMs / 1000);
    },
    bulkheadChanged({ upstream, opening, ...now }) {
      if (!isLast({ upstream, opening })) return;
      running.at(upstream).value = now.running;
      waiting.at(upstream).value = now.waiting;
    },
    unsolicitedResponse({ upstream }) {
      unsolicited.at(upstream).value += 1;
    },
  };
}

/** An upstream may make up nine hundred of them. */
function knownStatus(status: number | undefined): number | string | undefined {
  return status === undefined || status in STATUS_CODES ? status : '_OTHER';
}
