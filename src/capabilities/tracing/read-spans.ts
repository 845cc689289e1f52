import type { Wrappers } from '../../core/hooks.ts';
import { type Caller, under } from '../../core/kernel/caller.ts';
import { codeOf, GatewayError } from '../../core/kernel/errors.ts';
import type { Attributes, Span } from '../../core/kernel/trace.ts';
import type { Snapshot } from '../../core/reads/snapshots/snapshot.ts';
import { cacheOutcome } from '../../core/reads/snapshots/with-cache.ts';
import type { PageRequest, Upstream } from '../../core/upstream/upstream.ts';

type Traced = Pick<Wrappers, 'wrapVerify' | 'wrapRead' | 'wrapLoad' | 'wrapUpstream' | 'wrapClient'>;

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** Creates a span for each step of a read whose trace is kept. `now`: milliseconds since the epoch. */
export function traceReads(now: () => number): Traced {
  const loads = new WeakMap<Snapshot, Span>();
  return {
    wrapVerify: (verify) => (credential, key, parent) => {
      const found = verify(credential, key, parent);
      if (parent === undefined || !(found instanceof Promise)) return found;
      return inSpan(parent.begin('verify'), undefined, () => found);
    },
    wrapRead: (read, resource) => async (caller, options) => {
      if (caller.span === undefined) return read(caller, options);
      const span = caller.span.begin(`read ${resource}`, { 'portico.resource': resource });
      const work = () => read(under(caller, span), options);
      return inSpan(span, options.signal, work, (load) => {
        const other = load.collapsed === true ? loads.get(load.snapshot) : undefined;
        if (other !== undefined) span.link(other);
        return { 'portico.cache': cacheOutcome(load, now()) };
      });
    },
    wrapLoad: (load, resource) => async (caller, signal, options) => {
      if (caller.span === undefined) return load(caller, signal, options);
      const span = caller.span.begin(`load ${resource}`, { 'portico.resource': resource });
      const work = async () => {
        const loaded = await load(under(caller, span), signal, options);
        loads.set(loaded.snapshot, span);
        return loaded;
      };
      return inSpan(span, signal, work, ({ pages, snapshot, dropped }) => ({
        ...{ 'portico.pages': pages, 'portico.items': snapshot.count, 'portico.items.dropped': dropped },
      }));
    },
    wrapUpstream: (upstream, resource) => ({ ...upstream, get: tracedPage(upstream, resource) }),
    wrapClient: (client, baseUrl) => ({ ...client, get: tracedCall(client, baseUrl) }),
  };
}

/** Ends the span with the work. `signal` is the waiting caller's. */
async function inSpan<T>(
  span: Span,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
  attributesOf?: (result: T) => Attributes,
): Promise<T> {
  try {
    const result = await work();
    span.end(attributesOf?.(result));
    return result;
  } catch (error) {
    span.end({ 'error.type': codeOf(error, signal) });
    throw error;
  }
}

/** One page, with all its waits. */
function tracedPage({ name, get }: Upstream, resource: string): Upstream['get'] {
  return (request, signal) => {
    if (request.caller.span === undefined) return get(request, signal);
    const about = { 'portico.resource': resource, 'portico.upstream': name };
    const span = request.caller.span.begin(`page ${resource}`, about);
    return inSpan(span, signal, () => get(below(request, span), signal));
  };
}

/** One request to an upstream. Its URL is shown without the query. */
function tracedCall({ name, get }: Upstream, baseUrl: string): Upstream['get'] {
  const { origin, protocol, hostname, port } = new URL(baseUrl);
  const server = {
    'server.address': hostname,
    'server.port': Number(port) || DEFAULT_PORTS[protocol],
    'portico.upstream': name,
  };
  return async (request, signal) => {
    const { caller, post, path = '', resends } = request;
    if (caller.span === undefined) return get(request, signal);
    const method = post === undefined ? 'GET' : 'POST';
    const call = {
      'http.request.method': method,
      'url.full': `${origin}${path}`,
      'http.request.resend_count': resends || undefined,
    };
    const span = caller.span.begin(method, { ...server, ...call }, 'CLIENT');
    try {
      const reply = await get(below(request, span), signal);
      span.end({ 'http.response.status_code': reply.status });
      return reply;
    } catch (error) {
      const failed: Partial<GatewayError> = error instanceof GatewayError ? error : {};
      // A reply that is not a page came with 200.
      const { upstreamStatus: status = failed.code === 'upstream_invalid' ? 200 : undefined } = failed;
      span.end({ 'http.response.status_code': status, 'error.type': codeOf(error, signal) });
      throw error;
    }
  };
}

function below<P>(request: PageRequest<P>, span: Span): PageRequest<P> {
  return { ...request, caller: under<Caller>(request.caller, span) };
}
