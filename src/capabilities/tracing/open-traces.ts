import { randomUUID } from 'node:crypto';
import { type Span as ApiSpan, type Context, ROOT_CONTEXT, TraceFlags, type Tracer, trace } from '@opentelemetry/api';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Span, SpanAbout, SpanFacts, TraceHeaders } from '../../core/kernel/trace.ts';
import { createCollector } from './collector.ts';
import { attributesOf, isFailure, kindOf, nameOf, SCHEMA_URL, statusOf } from './conventions.ts';
import { createQueue } from './queue.ts';
import { createTails, type Tail } from './tail.ts';
import type { Beginning, Traces, TracingOptions, TracingSettings } from './traces.ts';

/** Texts are of settings and of closed lists: none is longer, unless settings are. */
const LIMITS = { attributeValueLengthLimit: 256 };

/** Flags of a trace that begins here. */
const SAMPLED = '01';
const UNSAMPLED = '00';

/** What spans of one trace have in common. */
interface Common {
  readonly flags: string;
  /** Unchanged; forwarded to upstreams only. */
  readonly tracestate?: string | undefined;
  /** What makes `performance.now()` milliseconds since the epoch: one for a trace, so that its spans are in order. */
  readonly epochMs: number;
  /** Holds the spans of a trace that is exported only if it fails. */
  readonly tail?: Tail | undefined;
}

/** Has a provider of its own, so that several gateways of one process send to wherever each of them does. */
export function openTraces(settings: TracingSettings, { version, events }: TracingOptions): Traces {
  const collector = createCollector(settings);
  const queue = createQueue({ ...settings, send: collector.send, events });
  const openTail = createTails(settings.maxQueueSpans, events);
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
    spanProcessors: [queue],
  });
  const tracer = provider.getTracer('portico', version, { schemaUrl: SCHEMA_URL });
  return {
    begin(about, sent, first, isSampled = true) {
      if (sent === undefined) {
        return OwnSpan.start(tracer, about, ROOT_CONTEXT, beginning(isSampled ? undefined : openTail()), first);
      }
      const { traceparent, tracestate } = sent.headers;
      const parent = { traceId: sent.traceId, spanId: sent.parentId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
      const common = { ...beginning(), flags: traceparent.slice(-2), tracestate };
      return OwnSpan.start(tracer, about, trace.setSpanContext(ROOT_CONTEXT, parent), common, first);
    },
    async close(withinMs) {
      await queue.close(withinMs);
      await collector.close();
    },
  };
}

/** A span of the SDK's. A class, unlike most here: a trace has a handful, and closures would be as many for each. */
class OwnSpan implements Span {
  readonly #tracer: Tracer;
  readonly #about: SpanAbout;
  readonly #common: Common;
  readonly #begun: SpanFacts | undefined;
  readonly #behind: ApiSpan;
  readonly #isRoot: boolean;

  static start(
    tracer: Tracer,
    about: SpanAbout,
    parent: Context,
    common: Common,
    { begun, link }: Beginning = {},
    facts?: SpanFacts,
  ): Span {
    const links = link === undefined ? [] : [{ context: OwnSpan.#contextOf(link) }];
    const startTime = common.epochMs + (begun ?? performance.now());
    const behind = tracer.startSpan(about, { kind: kindOf(about), links, startTime }, parent);
    return new OwnSpan(tracer, about, common, facts, behind, parent === ROOT_CONTEXT);
  }

  private constructor(
    tracer: Tracer,
    about: SpanAbout,
    common: Common,
    begun: SpanFacts | undefined,
    behind: ApiSpan,
    isRoot: boolean,
  ) {
    this.#tracer = tracer;
    this.#about = about;
    this.#common = common;
    this.#begun = begun;
    this.#behind = behind;
    this.#isRoot = isRoot;
  }

  static #contextOf(span: Span) {
    return (span as OwnSpan).#behind.spanContext();
  }

  get traceId(): string {
    return this.#behind.spanContext().traceId;
  }

  get headers(): TraceHeaders {
    const { traceId, spanId } = this.#behind.spanContext();
    const { flags, tracestate } = this.#common;
    const traceparent = `00-${traceId}-${spanId}-${flags}`;
    return tracestate === undefined ? { traceparent } : { traceparent, tracestate };
  }

  begin(about: SpanAbout, facts?: SpanFacts): Span {
    return OwnSpan.start(this.#tracer, about, trace.setSpan(ROOT_CONTEXT, this.#behind), this.#common, {}, facts);
  }

  beginAside(about: SpanAbout, facts?: SpanFacts): Span {
    return OwnSpan.start(
      this.#tracer,
      about,
      ROOT_CONTEXT,
      beginning(this.#common.tail?.next()),
      { link: this },
      facts,
    );
  }

  link(other: Span): void {
    this.#behind.addLink({ context: OwnSpan.#contextOf(other) });
  }

  end(ended?: SpanFacts): void {
    const facts = { ...this.#begun, ...ended };
    const { epochMs, tail } = this.#common;
    const endTime = epochMs + performance.now();
    const exportSpan = () =>
      this.#behind
        .updateName(nameOf(this.#about, facts))
        .setAttributes(attributesOf(facts))
        .setStatus(statusOf(facts))
        .end(endTime);
    if (this.#isRoot) tail?.decide(isFailure(facts));
    if (tail === undefined) exportSpan();
    else tail.end(exportSpan);
  }
}

/** What spans of a trace that begins here have in common. */
function beginning(tail?: Tail): Common {
  return { flags: tail === undefined ? SAMPLED : UNSAMPLED, tail, epochMs: Date.now() - performance.now() };
}
