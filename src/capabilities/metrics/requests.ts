import { errorTypeOf } from '../../core/kernel/causes.ts';
import { ERRORS } from '../../core/kernel/error-table.ts';
import type { Events } from '../../core/kernel/events.ts';
import type { RequestRecord } from '../../core/kernel/request-record.ts';
import type { Families } from './families.ts';

/** Methods of HTTP that are told apart; all others are `_OTHER`. */
const METHODS: ReadonlySet<unknown> = new Set(['GET', 'HEAD', 'POST', 'OPTIONS', 'DELETE']);
/** What anything is called that could be spelled in any number of ways. */
const OTHER = '_OTHER';
/** Routes of requests for which there is none. */
const NO_ROUTE: ReadonlySet<unknown> = new Set([undefined, 'unmatched']);

/** What callers ask, over HTTP and in JSON-RPC, and what they are refused. */
export function requestMetrics(families: Families): Events {
  const durations = families.histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Requests over HTTP, to both listeners, from their headers until the response has been handed to the system.',
    labels: ['http_request_method', 'http_route', 'http_response_status_code', 'error_type'],
  });
  const sent = families.counter({
    name: 'portico_http_response_body_bytes_total',
    help: 'Bytes of the bodies of responses that were sent whole.',
  });
  const operations = families.histogram({
    name: 'mcp_server_operation_duration_seconds',
    help: 'Requests of JSON-RPC, each one of a batch by itself, until the response has been written.',
    labels: ['mcp_method_name', 'gen_ai_tool_name', 'error_type'],
  });
  const errors = families.counter({
    name: 'portico_request_errors_total',
    help: 'Requests that ended with an error of the table, whatever their status; each one of a batch by itself.',
    labels: ['code'],
  });
  const bugs = families.counter({
    name: 'portico_internal_errors_total',
    help: 'What was thrown that should not have been: a bug. The log has its stack.',
  });
  const bounds = families.counter({
    name: 'portico_bounds_reached_total',
    help: 'What was refused or ended since it met a bound, by the key of its setting.',
    labels: ['bound', 'upstream'],
  });
  const connections = families.gauge({
    name: 'portico_connections',
    help: 'Connections of clients, by the listener that they came to.',
    labels: ['listener'],
  });
  const maxConnections = families.gauge({
    name: 'portico_connections_max',
    help: 'The setting http.maxConnections, and what the admin listener has for it.',
    labels: ['listener'],
  });
  const closed = families.counter({
    name: 'portico_idle_connections_closed_total',
    help: 'Connections that were idle and were closed for others, since as many are open as may be.',
    labels: ['listener'],
  });
  const bytes = sent.at();
  bugs.at();
  for (const code of Object.keys(ERRORS)) errors.at(code);

  return {
    requestEnded(request) {
      const { method, route, status } = request;
      durations
        .at(METHODS.has(method) ? method : OTHER, NO_ROUTE.has(route) ? undefined : route, status, errorTypeOf(request))
        .observe(request.ms / 1000);
      bytes.value += request.bytes;
      for (const code of codesOf(request)) errors.at(code).value += 1;
    },
    operationEnded({ rpc, tool, ms, error }) {
      operations.at(rpc === 'other' ? OTHER : rpc, tool, error).observe(ms / 1000);
    },
    internalError() {
      bugs.at().value += 1;
    },
    boundReached({ bound, upstream }) {
      bounds.at(bound, upstream).value += 1;
    },
    connectionsChanged({ listener, open, maxConnections: max }) {
      connections.at(listener).value = open;
      maxConnections.at(listener).value = max;
      closed.at(listener);
    },
    idleConnectionsClosed({ listener, connections: count }) {
      closed.at(listener).value += count;
    },
  };
}

const NONE: readonly string[] = [];

/** Codes of the errors that a request ended with: of a batch those of its members, and what befell it as a whole. */
function codesOf({ members, error }: RequestRecord): readonly string[] {
  if (members === undefined) return error === undefined ? NONE : [error.code];
  const codes = members.map(({ outcome }) => outcome).filter((outcome) => Object.hasOwn(ERRORS, outcome));
  return error === undefined || codes.includes(error.code) ? codes : [...codes, error.code];
}
