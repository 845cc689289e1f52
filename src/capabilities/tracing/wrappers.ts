import type { Wrappers } from '../../core/hooks.ts';
import { type Caller, under } from '../../core/kernel/caller.ts';
import { codeOf, GatewayError } from '../../core/kernel/errors.ts';
import { during, type Span } from '../../core/kernel/trace.ts';
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
      return during(parent.begin('verify'), undefined, () => found);
    },
    wrapRead: (read, resource) => async (caller, options) => {
      if (caller.span === undefined) return read(caller, options);
      const span = caller.span.begin('read', { resource });
      return during(
        span,
        options.signal,
        () => read(under(caller, span), options),
        (load) => {
          const other = load.collapsed === true ? loads.get(load.snapshot) : undefined;
          if (other !== undefined) span.link(other);
          return { cache: cacheOutcome(load, now()) };
        },
      );
    },
    wrapLoad: (load, resource) => async (caller, signal, options) => {
      if (caller.span === undefined) return load(caller, signal, options);
      const { requestId } = caller;
      const refresh = options?.isRefresh === true ? caller.span.begin('refresh', { resource, requestId }) : undefined;
      const span = (refresh ?? caller.span).begin('load', { resource });
      const work = async () => {
        const loaded = await load(under(caller, span), signal, options);
        loads.set(loaded.snapshot, span);
        return loaded;
      };
      return during(refresh, signal, () =>
        during(span, signal, work, ({ pages, snapshot, dropped }) => ({ pages, dropped, items: snapshot.count })),
      );
    },
    wrapUpstream: (upstream, resource) => ({ ...upstream, get: tracedPage(upstream, resource) }),
    wrapClient: (client, baseUrl) => ({ ...client, get: tracedCall(client, baseUrl) }),
  };
}

function tracedPage({ name, get }: Upstream, resource: string): Upstream['get'] {
  return (request, signal) => {
    if (request.caller.span === undefined) return get(request, signal);
    const span = request.caller.span.begin('page', { resource, upstream: name });
    return during(span, signal, () => get(below(request, span), signal));
  };
}

function tracedCall({ name, get }: Upstream, baseUrl: string): Upstream['get'] {
  const { origin, protocol, hostname: host, port } = new URL(baseUrl);
  const server = { upstream: name, host, port: Number(port) || DEFAULT_PORTS[protocol] };
  return async (request, signal) => {
    const { caller, post, path = '', resends } = request;
    if (caller.span === undefined) return get(request, signal);
    const method = post === undefined ? 'GET' : 'POST';
    const span = caller.span.begin('call', { ...server, method, url: `${origin}${path}`, resends });
    try {
      const reply = await get(below(request, span), signal);
      span.end({ status: reply.status });
      return reply;
    } catch (error) {
      const failed: Partial<GatewayError> = error instanceof GatewayError ? error : {};
      // What is no page came with 200.
      const { upstreamStatus: status = failed.code === 'upstream_invalid' ? 200 : undefined } = failed;
      span.end({ status, error: codeOf(error, signal) });
      throw error;
    }
  };
}

function below<P>(request: PageRequest<P>, span: Span): PageRequest<P> {
  return { ...request, caller: under<Caller>(request.caller, span) };
}
