import type { SpanAbout, SpanFacts } from '../../core/kernel/trace.ts';

/** Which conventions these are. Those of MCP are in development: their names stand here, and a test pins them. */
export const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.40.0';

export const SPAN_KINDS = {
  request: 'SERVER',
  operation: 'SERVER',
  read: 'INTERNAL',
  refresh: 'INTERNAL',
  load: 'INTERNAL',
  look: 'INTERNAL',
  page: 'INTERNAL',
  verify: 'INTERNAL',
  call: 'CLIENT',
} as const satisfies Record<SpanAbout, string>;

/** Low in cardinality, as the conventions want it. */
export function nameOf(about: SpanAbout, { method, route, rpc, tool, resource }: SpanFacts): string {
  if (about === 'request') return words(spelled(method, 'HTTP'), route);
  if (about === 'operation') return words(knownRpc(rpc), tool);
  if (about === 'call') return words(method);
  return words(about, resource);
}

const METHODS: ReadonlySet<string | undefined> = new Set([
  ...['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'QUERY', 'TRACE'],
]);
const OTHER = '_OTHER';
const NO_ROUTE = 'unmatched';

/** Outcomes without a waiting caller; they are no failures. */
const LEFT: ReadonlySet<string> = new Set(['cancelled', 'caller_gone']);

export function isError({ error }: SpanFacts): boolean {
  return error !== undefined && !LEFT.has(error);
}

/** What is not known is `undefined`. */
export function attributesOf(facts: SpanFacts): Readonly<Record<string, string | number | undefined>> {
  const { method, rpc, tool, edge } = facts;
  const route = facts.route === NO_ROUTE ? undefined : facts.route;
  return {
    // HTTP, stable. The path is shown if it is one of Portico's, and the URL of an upstream without its query.
    'http.request.method': method && spelled(method, OTHER),
    'http.route': route,
    'url.path': route,
    'url.scheme': facts.scheme,
    'url.full': facts.url,
    'http.response.status_code': facts.status,
    'http.request.resend_count': facts.resends === 0 ? undefined : facts.resends,
    'server.address': facts.host,
    'server.port': facts.port,
    'error.type': facts.error,
    // MCP, in development.
    'mcp.method.name': rpc && knownRpc(rpc),
    'mcp.protocol.version': facts.revision,
    'mcp.resource.uri': facts.uri,
    'gen_ai.tool.name': tool,
    'gen_ai.operation.name': tool && 'execute_tool',
    'rpc.response.status_code': facts.rpcCode?.toString(),
    'network.transport': edge && (edge === 'stdio' ? 'pipe' : 'tcp'),
    'network.protocol.name': edge === 'http' ? 'http' : undefined,
    'portico.request.id': facts.requestId,
    'portico.outcome': facts.outcome,
    'portico.error.code': facts.code,
    'portico.resource': facts.resource,
    'portico.cache': facts.cache,
    'portico.shared': facts.shared,
    'portico.upstream': facts.upstream,
    'portico.pages': facts.pages,
    'portico.items': facts.items,
    'portico.items.dropped': facts.dropped,
  };
}

function spelled(method: string | undefined, other: string): string {
  return method !== undefined && METHODS.has(method) ? method : other;
}

function knownRpc(rpc: string | undefined): string | undefined {
  return rpc === 'other' ? OTHER : rpc;
}

function words(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== NO_ROUTE).join(' ');
}
