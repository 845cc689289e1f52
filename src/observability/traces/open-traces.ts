import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Span as ApiSpan, type Context, ROOT_CONTEXT, TraceFlags, trace } from '@opentelemetry/api';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, RandomIdGenerator, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Span, SpanAbout, SpanFacts } from '../../kernel/span.ts';
import { createCollector } from './collector.ts';
import { attributesOf, kindOf, nameOf, SCHEMA_URL, statusOf } from './conventions.ts';
import { createQueue } from './queue.ts';
import type { Beginning, Traces, TracingOptions, TracingSettings } from './traces.ts';

/** Texts are of settings and of closed lists: none is longer, unless settings are. */
const LIMITS = { attributeValueLengthLimit: 256 };

/** Flags of a trace that begins here: sampled. */
const SAMPLED = '01';

/** What spans of one trace have in common. */
interface Common {
  readonly flags: string;
  /** As it came: it goes on to upstreams, and to nobody else. */
  readonly tracestate?: string | undefined;
  /** What makes `performance.now()` milliseconds since the epoch: one for a trace, so that its spans are in order. */
  readonly epochMs: number;
}

/** Has a provider of its own, so that several gateways of one process send to wherever each of them does. */
export function openTraces(settings: TracingSettings, { version, events }: TracingOptions): Traces {
  const collector = createCollector(settings);
  const queue = createQueue({ ...settings, send: collector.send, events });
  const ids = new RandomIdGenerator();
  /** Of the trace that is about to begin, where its id has been drawn. */
  let drawn: string | undefined;
  const provider = new TracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({
        'service.name': settings.serviceName,
        'service.version': version,
        'service.instance.id': randomUUID(),
      }),
    ),
    sampler: new AlwaysOnSampler(),
    spanLimits: LIMITS,
    idGenerator: {
      generateSpanId: () => ids.generateSpanId(),
      generateTraceId: () => drawn ?? ids.generateTraceId(),
    },
    spanProcessors: [queue],
  });
  const tracer = provider.getTracer('portico', version, { schemaUrl: SCHEMA_URL });
  /** The spans behind ours. */
  const behind = new WeakMap<Span, ApiSpan>();
  const contextOf = (span: Span) => (behind.get(span) as ApiSpan).spanContext();

  function start(about: SpanAbout, parent: Context, common: Common, { begun, link }: Beginning, facts?: SpanFacts) {
    const links = link === undefined ? [] : [{ context: contextOf(link) }];
    const startTime = common.epochMs + (begun ?? performance.now());
    return wrap(tracer.startSpan(about, { kind: kindOf(about), links, startTime }, parent), about, common, facts);
  }

  function wrap(own: ApiSpan, about: SpanAbout, common: Common, begun: SpanFacts = {}): Span {
    const { traceId, spanId } = own.spanContext();
    const { flags, tracestate, epochMs } = common;
    const traceparent = `00-${traceId}-${spanId}-${flags}`;
    const span: Span = {
      traceId,
      headers: tracestate === undefined ? { traceparent } : { traceparent, tracestate },
      begin: (what, facts) => start(what, trace.setSpan(ROOT_CONTEXT, own), common, {}, facts),
      beginAside: (what, facts) => start(what, ROOT_CONTEXT, beginning(), { link: span }, facts),
      link(other) {
        own.addLink({ context: contextOf(other) });
      },
      end(ended) {
        const facts = { ...begun, ...ended };
        own.updateName(nameOf(about, facts)).setAttributes(attributesOf(facts)).setStatus(statusOf(facts));
        own.end(epochMs + performance.now());
      },
    };
    behind.set(span, own);
    return span;
  }

  return {
    begin(about, traceId, first) {
      drawn = traceId;
      const span = start(about, ROOT_CONTEXT, beginning(), first);
      drawn = undefined;
      return span;
    },
    goOn(about, { traceId, parentId, headers: { traceparent, tracestate } }, first) {
      const parent = { traceId, spanId: parentId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
      const common = { ...beginning(), flags: traceparent.slice(-2), tracestate };
      return start(about, trace.setSpanContext(ROOT_CONTEXT, parent), common, first);
    },
    async close(withinMs) {
      const ended = new AbortController();
      const late = sleep(withinMs, undefined, { signal: ended.signal });
      await Promise.race([queue.empty(), late]);
      ended.abort();
      queue.close();
      await collector.close();
    },
  };
}

/** What spans of a trace that begins here have in common. */
function beginning(): Common {
  return { flags: SAMPLED, epochMs: Date.now() - performance.now() };
}
