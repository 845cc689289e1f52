import { errorTypeOf } from '../../core/kernel/caller.ts';
import { ERRORS } from '../../core/kernel/error-table.ts';
import type { Events, UpstreamRef } from '../../core/kernel/events.ts';
import { STATUS_CODES } from '../../core/kernel/node-http.ts';
import type { MetricRegistry } from './metric-registry.ts';

/** Methods of HTTP that have their own label value. */
const METHODS: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'POST', 'OPTIONS', 'DELETE']);
/** Label value of what a client could spell in any number of ways. */
const OTHER = '_OTHER';

/** Requests over HTTP and in JSON-RPC, their errors, and connections. */
export function requestMetrics({ counter, gauge, histogram }: MetricRegistry): Events {
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
  const subscriptions = gauge('portico_subscriptions', 'Open subscriptions to changes of lists.');
  for (const code of Object.keys(ERRORS)) errors.inc({ code }, 0);

  return {
    requestEnded(request) {
      const { method = '', route, status = '', ms, headMs = ms, error } = request;
      const labels = {
        http_request_method: METHODS.has(method) ? method : OTHER,
        http_route: route === 'unmatched' ? '' : (route ?? ''),
        http_response_status_code: status,
        error_type: errorTypeOf(request) ?? '',
      };
      durations.observe(labels, headMs / 1000);
      if (error !== undefined) errors.inc({ code: error.code });
    },
    operationEnded({ rpc, tool = '', revision = '', ms, error = '' }) {
      const labels = {
        mcp_method_name: labelOf(rpc),
        gen_ai_tool_name: tool,
        mcp_protocol_version: labelOf(revision),
        error_type: error,
      };
      operations.observe(labels, ms / 1000);
    },
    internalError: () => bugs.inc(),
    limitReached: ({ bound, upstream = '' }) => limits.inc({ bound, upstream }),
    connectionsChanged({ listener, open, maxConnections: max }) {
      connections.set({ listener }, open);
      maxConnections.set({ listener }, max);
    },
    subscriptionsChanged: ({ open }) => subscriptions.set(open),
  };
}

function labelOf(text: string): string {
  return text === 'other' ? OTHER : text;
}

const CACHE_RESULTS = ['hit', 'shared', 'stale', 'miss', 'refreshed', 'collapsed', 'bypass'];

/** Reads of resources, the snapshots that serve them, and the lists that are loaded for them. */
export function readMetrics({ counter, gauge, histogram }: MetricRegistry, maxCacheBytes: number): Events {
  const reads = counter(
    'portico_reads_total{resource,cache,error_type}',
    'Reads of resources over HTTP, in JSON-RPC and for subscriptions, by cache result or by the code of the error.',
  );
  const staleOnError = counter(
    'portico_reads_stale_if_error_total{resource,error_type}',
    'Reads that were served stale because of an error: it failed the read itself, or the last background load.',
  );
  const loads = histogram(
    'portico_load_duration_seconds{resource,error_type}',
    'Loads of whole lists, with all pages and the waits before them.',
  );
  const stored = counter('portico_snapshots_stored_total{resource}', 'Snapshots that were stored.');
  const evicted = counter(
    'portico_snapshots_evicted_total{resource,reason}',
    'Snapshots that were evicted: to make room, or because the upstream refused access (the code of its error).',
  );
  const heldBytes = gauge(
    'portico_snapshots_held_bytes',
    'Memory of all snapshots with their representations, as cache.maxBytes counts it.',
  );
  gauge('portico_snapshots_max_bytes', 'The setting cache.maxBytes.').set(maxCacheBytes);
  const items = counter(
    'portico_list_items_total{resource,outcome}',
    'Items of the lists that were loaded whole: kept, excluded by where, or dropped because they could not be mapped.',
  );
  const warnings = counter(
    'portico_mapping_warnings_total{resource,finding,field}',
    'Lists whose mapping is probably wrong: a field was empty in every item, a change since the last list, nothing was left of a reply, or an id occurred twice. Also pages of tools with hidden characters.',
  );

  return {
    resourcesOffered({ resources }) {
      for (const resource of resources) {
        for (const cache of CACHE_RESULTS) reads.inc({ resource, cache, error_type: '' }, 0);
        stored.inc({ resource }, 0);
        evicted.inc({ resource, reason: 'room' }, 0);
        for (const outcome of ['kept', 'excluded', 'dropped']) items.inc({ resource, outcome }, 0);
      }
    },
    readEnded({ resource, cache = '', error = '', staleFor }) {
      reads.inc({ resource, cache, error_type: error });
      if (staleFor !== undefined) staleOnError.inc({ resource, error_type: staleFor });
    },
    loadEnded: ({ resource, ms, error = '' }) => loads.observe({ resource, error_type: error }, ms / 1000),
    snapshotStored: ({ resource }) => stored.inc({ resource }),
    snapshotEvicted: ({ resource, code }) => evicted.inc({ resource, reason: code }),
    snapshotDisplaced: ({ resource }) => evicted.inc({ resource, reason: 'room' }),
    snapshotsHeld: ({ bytes }) => heldBytes.set(bytes),
    listLoaded({ resource, items: kept, excluded, dropped }) {
      for (const [outcome, count] of Object.entries({ kept, excluded, dropped }))
        items.inc({ resource, outcome }, count);
    },
    mappingWarning: ({ resource, finding, field = '' }) => warnings.inc({ resource, finding, field }),
  };
}

const STATES = ['closed', 'open', 'half-open'] as const;

/** Requests to upstreams, and what protects these. */
export function upstreamMetrics({ counter, gauge, histogram }: MetricRegistry): Events {
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
  const running = gauge('portico_bulkhead_running{upstream}', 'Calls that have a slot of the bulkhead.');
  const waiting = gauge('portico_bulkhead_waiting{upstream}', 'Calls that wait for a slot of the bulkhead.');

  /** Open instances by name: after a reload, the replaced one finishes what it has begun. */
  const open = new Map<string, (symbol | undefined)[]>();
  /** A replaced instance must not overwrite the gauges of its successor. */
  const isCurrent = ({ upstream, instanceId }: UpstreamRef) => open.get(upstream)?.at(-1) === instanceId;
  const setState = (upstream: string, current: string) => {
    for (const state of STATES) breakerState.set({ upstream, state }, state === current ? 1 : 0);
  };

  return {
    upstreamOpened({ upstream, instanceId }) {
      open.set(upstream, [...(open.get(upstream) ?? []), instanceId]);
      retries.inc({ upstream }, 0);
      for (const gauge of [running, waiting]) gauge.set({ upstream }, 0);
      for (const code of ['breaker_open', 'overloaded', 'credential_rejected']) refused.inc({ upstream, code }, 0);
      setState(upstream, 'closed');
    },
    upstreamClosed({ upstream, instanceId }) {
      const left = (open.get(upstream) ?? []).filter((one) => one !== instanceId);
      open.set(upstream, left);
      if (left.length > 0) return;
      for (const state of STATES) breakerState.remove({ upstream, state });
      for (const gauge of [running, waiting]) gauge.remove({ upstream });
    },
    pageFetched({ upstream, method, ms, status = '', error = '' }) {
      const code = status === '' || status in STATUS_CODES ? status : OTHER;
      const labels = { upstream, http_request_method: method, http_response_status_code: code, error_type: error };
      requests.observe(labels, ms / 1000);
    },
    retried: ({ upstream }) => retries.inc({ upstream }),
    callRefused: ({ upstream, code }) => refused.inc({ upstream, code }),
    breakerChanged(changed) {
      if (isCurrent(changed)) setState(changed.upstream, changed.state);
    },
    bulkheadChanged(changed) {
      if (!isCurrent(changed)) return;
      const { upstream } = changed;
      running.set({ upstream }, changed.running);
      waiting.set({ upstream }, changed.waiting);
    },
  };
}

/** The shared Redis. */
export function sharedMetrics({ counter, gauge, histogram }: MetricRegistry): Events {
  const up = gauge('portico_shared_up', 'Whether Redis is in use now: 1, or 0. Absent without the setting shared.');
  const commands = histogram(
    'portico_shared_command_duration_seconds{command,outcome}',
    'Commands to Redis, until they were answered or abandoned. Outcomes: ok, timeout, full (no memory is left), failed.',
  );
  const lookups = counter(
    'portico_shared_cache_lookups_total{resource,outcome}',
    'Cache misses, by the result in Redis.',
  );
  const puts = counter(
    'portico_shared_puts_total{resource,outcome}',
    'Loaded lists, by the result of storing them in Redis.',
  );
  up.remove();

  return {
    sharedStoreOpened: () => up.set(0),
    sharedStoreChanged: ({ isUp }) => up.set(isUp ? 1 : 0),
    sharedCommandEnded: ({ command, outcome, ms }) => commands.observe({ command, outcome }, ms / 1000),
    sharedLooked: ({ resource, outcome }) => lookups.inc({ resource, outcome }),
    sharedPut: ({ resource, outcome }) => puts.inc({ resource, outcome }),
  };
}
