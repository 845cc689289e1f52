import type { Wrappers } from '../../core/hooks.ts';
import { type Caller, withSpan } from '../../core/kernel/caller.ts';
import { codeOf, GatewayError } from '../../core/kernel/errors.ts';
import type { Attributes, Span, SpanKind } from '../../core/kernel/trace.ts';
import type { Snapshot } from '../../core/reads/snapshots/snapshot.ts';
import { cacheOutcome } from '../../core/reads/snapshots/with-cache.ts';

type Traced = Pick<Wrappers, 'wrapRead' | 'wrapLoad' | 'wrapUpstream' | 'wrapClient'>;

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** Creates a span for each step of a read whose trace is kept. `now`: milliseconds since the epoch. */
export function traceReads(now: () => number): Traced {
  const loads = new WeakMap<Snapshot, Span>();
  return {
    wrapRead: (read, resource) => (caller, options) =>
      inSpan(
        { caller, name: `read ${resource}`, attributes: { 'portico.resource': resource }, signal: options.signal },
        (below) => read(below, options),
        (load, span) => {
          const other = load.collapsed === true ? loads.get(load.snapshot) : undefined;
          if (other !== undefined) span.link(other);
          return { 'portico.cache': cacheOutcome(load, now()) };
        },
      ),
    wrapLoad: (load, resource) => (caller, signal, options) =>
      inSpan(
        { caller, name: `load ${resource}`, attributes: { 'portico.resource': resource }, signal },
        (below) => load(below, signal, options),
        ({ pages, snapshot, dropped }, span) => {
          loads.set(snapshot, span);
          return { 'portico.pages': pages, 'portico.items': snapshot.count, 'portico.items.dropped': dropped };
        },
      ),
    // One page, with all its waits.
    wrapUpstream: (upstream, resource) => {
      const attributes = { 'portico.resource': resource, 'portico.upstream': upstream.name };
      return {
        ...upstream,
        get: (request, signal) =>
          inSpan({ caller: request.caller, name: `page ${resource}`, attributes, signal }, (caller) =>
            upstream.get({ ...request, caller }, signal),
          ),
      };
    },
    // One request to an upstream. Its URL is shown without the query.
    wrapClient: (client, baseUrl) => {
      const { origin, protocol, hostname, port } = new URL(baseUrl);
      const server = {
        'server.address': hostname,
        'server.port': Number(port) || DEFAULT_PORTS[protocol],
        'portico.upstream': client.name,
      };
      return {
        ...client,
        get: (request, signal) => {
          const { caller, post, path = '' } = request;
          const name = post === undefined ? 'GET' : 'POST';
          const attributes = { ...server, 'http.request.method': name, 'url.full': `${origin}${path}` };
          return inSpan(
            { caller, name, attributes, kind: 'CLIENT', signal },
            (below) => client.get({ ...request, caller: below }, signal),
            ({ status }) => ({ 'http.response.status_code': status }),
          );
        },
      };
    },
  };
}

interface Step {
  readonly caller: Caller;
  readonly name: string;
  readonly attributes: Attributes;
  readonly kind?: SpanKind;
  /** The waiting caller's. */
  readonly signal: AbortSignal | undefined;
}

/** Does the work below a span of its own, if the caller has one, and ends that with it. */
async function inSpan<T>(
  { caller, name, attributes, kind, signal }: Step,
  work: (caller: Caller) => Promise<T>,
  attributesOf?: (result: T, span: Span) => Attributes,
): Promise<T> {
  const span = caller.span?.begin(name, attributes, kind);
  if (span === undefined) return work(caller);
  try {
    const result = await work(withSpan(caller, span));
    span.end(attributesOf?.(result, span));
    return result;
  } catch (error) {
    const status = kind === 'CLIENT' && error instanceof GatewayError ? error.upstreamStatus : undefined;
    span.end({ 'http.response.status_code': status, 'error.type': codeOf(error, signal) });
    throw error;
  }
}
