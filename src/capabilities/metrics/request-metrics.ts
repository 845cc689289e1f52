import type { Config } from '../../core/config/schema/settings.ts';
import { errorTypeOf } from '../../core/kernel/caller.ts';
import { ERRORS } from '../../core/kernel/error-table.ts';
import type { Events, UpstreamRef } from '../../core/kernel/events.ts';
import { STATUS_CODES } from '../../core/kernel/node-http.ts';
import type { Families } from './families.ts';

/** Methods of HTTP that have their own label value. */
const METHODS: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'POST', 'OPTIONS', 'DELETE']);
/** Label value of what a client could spell in any number of ways. */
const OTHER = '_OTHER';

/** Requests over HTTP and in JSON-RPC, their errors, and connections. */
export function requestMetrics({ counter, gauge, histogram }: Families): Events {
  const durations = histogram(
    'http_server_request_duration_seconds{http_request_method,http_route,http_response_status_code,error_type}',
    'HTTP requests to both listeners, from their headers until the response, or the head of a stream, was handed to the system.',
  );
  const operations = histogram(
    'mcp_server_operation_duration_seconds{mcp_method_name,gen_ai_tool_name,mcp_protocol_version,error_type}',
    'JSON-RPC requests, until the response was written.',
  );
  const errors = counter(
    'portico_request_errors_total{code}',
    'Requests that ended with an error of the table, whatever their status.',
  );
  const bugs = counter('portico_internal_errors_total', 'Bugs: unexpected exceptions. The log has their stacks.');
  const limits = counter(
    'portico_bounds_reached_total{bound,upstream}',
    'Requests and calls that were refused or ended because a limit was reached, by its name.',
  );
  const connections = gauge('portico_connections{listener}', 'Open connections of clients, by listener.');
  const maxConnections = gauge(
    'portico_connections_max{listener}',
    'The setting http.maxConnections, or less by the limit of file descriptors; and the fixed limit of the admin listener.',
  );
  const closed = counter(
    'portico_idle_connections_closed_total{listener}',
    'Idle connections that were closed to make room for new ones at the limit of connections.',
  );
  const subscriptions = gauge('portico_subscriptions', 'Open subscriptions to changes of lists.');
  for (const code of Object.keys(ERRORS)) errors(0, code);

  return {
    requestEnded(request) {
      const { method, route, status, ms, openedMs = ms, error } = request;
      const labelOfMethod = METHODS.has(method) ? method : OTHER;
      durations(openedMs, labelOfMethod, route === 'unmatched' ? undefined : route, status, errorTypeOf(request));
      if (error !== undefined) errors(1, error.code);
    },
    operationEnded: ({ rpc, tool, revision, ms, error }) =>
      operations(ms, labelOf(rpc), tool, labelOf(revision), error),
    internalError: () => bugs(),
    limitReached: ({ bound, upstream }) => limits(1, bound, upstream),
    connectionsChanged({ listener, open, maxConnections: max }) {
      connections(open, listener);
      maxConnections(max, listener);
      closed(0, listener);
    },
    subscriptionsChanged: ({ open }) => subscriptions(open),
    idleConnectionsClosed: ({ listener, connections: count }) => closed(count, listener),
  };
}

function labelOf(text: string | undefined): string | undefined {
  return text === 'other' ? OTHER : text;
}

export type SnapshotBounds = Pick<Config['cache'], 'maxBytes' | 'maxEntries'>;

const CACHE_RESULTS = ['hit', 'shared', 'stale', 'miss', 'refreshed', 'collapsed', 'bypass'];

/** Reads of resources, the snapshots that serve them, and the lists that are loaded for them. */
export function readMetrics({ counter, gauge, histogram }: Families, bounds: SnapshotBounds): Events {
  const reads = counter(
    'portico_reads_total{resource,cache,error_type}',
    'Reads of resources over HTTP, in JSON-RPC and for subscriptions, by cache result or by the code of the error.',
  );
  const staleOnError = counter(
    'portico_reads_stale_if_error_total{resource,error_type}',
    'Reads that were served stale because of an error: it failed the read itself, or the last background load.',
  );
  const joined = counter('portico_coalesced_reads_total{resource}', 'Reads that waited for the load of another read.');
  const loads = histogram(
    'portico_load_duration_seconds{resource,error_type}',
    'Loads of whole lists, with all pages and the waits before them.',
  );
  const refreshes = counter(
    'portico_refresh_failures_total{resource}',
    'Background loads behind a stale read that failed.',
  );
  const stored = counter(
    'portico_snapshots_stored_total{resource,renewed}',
    'Snapshots that were stored; renewed: the upstream reported that the list had not changed.',
  );
  const evicted = counter(
    'portico_snapshots_evicted_total{resource,reason}',
    'Snapshots that were evicted: to make room, or because the upstream refused access (the code of its error).',
  );
  const heldBytes = gauge(
    'portico_snapshots_held_bytes',
    'Memory of all snapshots with their representations, as cache.maxBytes counts it.',
  );
  const held = gauge('portico_snapshots_held', 'Snapshots of all callers and resources.');
  gauge('portico_snapshots_max_bytes', 'The setting cache.maxBytes.')(bounds.maxBytes);
  gauge('portico_snapshots_max', 'The bound cache.maxEntries.')(bounds.maxEntries);
  const items = counter(
    'portico_list_items_total{resource,outcome}',
    'Items of the lists that were loaded whole: kept, excluded by where, or dropped because they could not be mapped.',
  );
  const defaulted = counter(
    'portico_fields_defaulted_total{resource,field}',
    'Items in which a field took its default.',
  );
  const warnings = counter(
    'portico_mapping_warnings_total{resource,finding,field}',
    'Lists whose mapping is probably wrong: a field was empty in every item, a change since the last list, nothing was left of a reply, or an id occurred twice. Also lists with hidden characters.',
  );

  return {
    resourcesOffered({ resources }) {
      for (const resource of resources) {
        for (const cache of CACHE_RESULTS) reads(0, resource, cache);
        for (const count of [joined, refreshes]) count(0, resource);
        for (const renewed of ['true', 'false']) stored(0, resource, renewed);
        evicted(0, resource, 'room');
        for (const outcome of ['kept', 'excluded', 'dropped']) items(0, resource, outcome);
      }
    },
    readEnded({ resource, cache, error, staleFor }) {
      reads(1, resource, cache, error);
      if (staleFor !== undefined) staleOnError(1, resource, staleFor);
    },
    flightJoined: ({ resource }) => joined(1, resource),
    loadEnded: ({ resource, ms, error }) => loads(ms, resource, error),
    refreshFailed: ({ resource }) => refreshes(1, resource),
    snapshotStored: ({ resource, renewed }) => stored(1, resource, String(renewed)),
    snapshotEvicted: ({ resource, code }) => evicted(1, resource, code),
    snapshotDisplaced: ({ resource }) => evicted(1, resource, 'room'),
    snapshotsHeld({ bytes, entries }) {
      heldBytes(bytes);
      held(entries);
    },
    listLoaded({ resource, ...list }) {
      items(list.items, resource, 'kept');
      items(list.excluded, resource, 'excluded');
      items(list.dropped, resource, 'dropped');
      for (const [field, count] of list.defaulted) defaulted(count, resource, field);
    },
    mappingWarning: ({ resource, finding, field }) => warnings(1, resource, finding, field),
  };
}

const STATES = ['closed', 'open', 'half-open'] as const;

/** Requests to upstreams, and what protects these. */
export function upstreamMetrics({ counter, gauge, histogram }: Families): Events {
  const requests = histogram(
    'http_client_request_duration_seconds{upstream,http_request_method,http_response_status_code,error_type}',
    'Requests to upstreams, each attempt by itself, until the body was read.',
  );
  const retries = counter('portico_upstream_retries_total{upstream}', 'Requests to upstreams that were retried.');
  const refused = counter(
    'portico_upstream_calls_refused_total{upstream,code}',
    'Calls that were not made: the breaker was open, the queue was full, or the token was rejected a moment ago.',
  );
  const breakerState = gauge(
    'portico_breaker_state{upstream,state}',
    'State of the circuit breaker: 1 for the current state, 0 for the others.',
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
      for (const metric of [retries, running, waiting]) metric(0, upstream);
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
    pageFetched({ upstream, method, ms, status, error }) {
      requests(ms, upstream, method, status === undefined || status in STATUS_CODES ? status : '_OTHER', error);
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
  };
}
