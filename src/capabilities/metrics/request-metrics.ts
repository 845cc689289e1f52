import { ERRORS } from '../../core/kernel/error-table.ts';
import type { Events } from '../../core/kernel/events.ts';
import { errorTypeOf, type RequestRecord } from '../../core/kernel/request-record.ts';
import type { Families } from './families.ts';

/** Methods of HTTP that have their own label value. */
const METHODS: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'POST', 'OPTIONS', 'DELETE']);
/** Label value of what a client could spell in any number of ways. */
const OTHER = '_OTHER';

/** Requests over HTTP and in JSON-RPC, their errors, and connections. */
export function requestMetrics({ counter, gauge, histogram }: Families): Events {
  const durations = histogram(
    'http_server_request_duration_seconds',
    'HTTP requests to both listeners, from their headers until the response, or the head of a stream, was handed to the system.',
    ['http_request_method', 'http_route', 'http_response_status_code', 'error_type'],
  );
  const sent = counter('portico_http_response_body_bytes_total', 'Bytes of response bodies that were sent whole.');
  const operations = histogram(
    'mcp_server_operation_duration_seconds',
    'JSON-RPC requests, each member of a batch by itself, until the response was written.',
    ['mcp_method_name', 'gen_ai_tool_name', 'mcp_protocol_version', 'error_type'],
  );
  const errors = counter(
    'portico_request_errors_total',
    'Requests that ended with an error of the table, whatever their status; each member of a batch by itself.',
    ['code'],
  );
  const bugs = counter('portico_internal_errors_total', 'Bugs: unexpected exceptions. The log has their stacks.');
  const limits = counter(
    'portico_bounds_reached_total',
    'Requests and calls that were refused or ended because a limit was reached, by its name.',
    ['bound', 'upstream'],
  );
  const connections = gauge('portico_connections', 'Open connections of clients, by listener.', ['listener']);
  const maxConnections = gauge(
    'portico_connections_max',
    'The setting http.maxConnections, or less by the limit of file descriptors; and the fixed limit of the admin listener.',
    ['listener'],
  );
  const closed = counter(
    'portico_idle_connections_closed_total',
    'Idle connections that were closed to make room for new ones at the limit of connections.',
    ['listener'],
  );
  const subscriptions = gauge('portico_subscriptions', 'Open subscriptions to changes of lists.');
  const notified = counter(
    'portico_change_notifications_total',
    'Changes of lists that subscribers were notified of.',
    ['resource'],
  );
  for (const code of Object.keys(ERRORS)) errors({ code }, 0);

  return {
    requestEnded(request) {
      const { method, route, status, ms, openedMs = ms, bytes } = request;
      const labels = {
        http_request_method: METHODS.has(method) ? method : OTHER,
        http_route: route === 'unmatched' ? undefined : route,
        http_response_status_code: status,
        error_type: errorTypeOf(request),
      };
      durations(labels, openedMs);
      sent({}, bytes);
      for (const code of codesOf(request)) errors({ code });
    },
    operationEnded({ rpc, tool, revision, ms, error }) {
      const labels = {
        mcp_method_name: labelOf(rpc),
        gen_ai_tool_name: tool,
        mcp_protocol_version: labelOf(revision),
        error_type: error,
      };
      operations(labels, ms);
    },
    internalError: () => bugs(),
    limitReached: ({ bound, upstream }) => limits({ bound, upstream }),
    connectionsChanged({ listener, open, maxConnections: max }) {
      connections({ listener }, open);
      maxConnections({ listener }, max);
      closed({ listener }, 0);
    },
    subscriptionsChanged: ({ open }) => subscriptions({}, open),
    changeNotified: ({ resource }) => notified({ resource }),
    idleConnectionsClosed: ({ listener, connections: count }) => closed({ listener }, count),
  };
}

/** Returns the label value of a text of a closed list. */
function labelOf(text: string | undefined): string | undefined {
  return text === 'other' ? OTHER : text;
}

const NONE: readonly string[] = [];

/** Returns the codes of the errors that a request ended with: of a batch those of its members, and that of the whole. */
function codesOf({ members, error }: RequestRecord): readonly string[] {
  if (members === undefined) return error === undefined ? NONE : [error.code];
  const codes = members.map(({ outcome }) => outcome).filter((outcome) => Object.hasOwn(ERRORS, outcome));
  return error === undefined || codes.includes(error.code) ? codes : [...codes, error.code];
}
