import { randomUUID } from 'node:crypto';
import type { Events } from '../../core/kernel/events.ts';
import type { Span, SpanAbout, SpanFacts, TraceHeaders } from '../../core/kernel/trace.ts';
import { isFailure } from './conventions.ts';

export interface RecordedTrace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** Flags of `traceparent`. */
  readonly flags: string;
  /** Unchanged; forwarded to upstreams only. */
  readonly tracestate?: string | undefined;
  /** What makes `performance.now()` milliseconds since the epoch: one for a trace, so that its spans are in order. */
  readonly epochMs: number;
  readonly tail: Tail<RecordedSpan>;
  /** Starts a trace beside this one, sampled if this one is. */
  readonly startNext: () => RecordedTrace;
}

export interface SpanStart {
  readonly about: SpanAbout;
  /** The span above it, or the id of one in another process. @default it is the root of its trace */
  readonly parent?: RecordedSpan | string | undefined;
  /** `performance.now()` when it began. @default now */
  readonly begun?: number | undefined;
  readonly links?: readonly RecordedSpan[];
  readonly facts?: SpanFacts | undefined;
}

/** A span in memory. Names, attributes and ids are made when they are needed. A class: closures would be as many for each span. */
export class RecordedSpan implements Span {
  readonly about: SpanAbout;
  readonly trace: RecordedTrace;
  links: readonly RecordedSpan[];
  readonly begun: number;
  /** `performance.now()` when it ended; `undefined` while it is open. */
  ended: number | undefined = undefined;
  #facts: SpanFacts | undefined;
  #endFacts: SpanFacts | undefined;
  readonly #parent: RecordedSpan | string | undefined;
  #id: string | undefined;

  constructor(trace: RecordedTrace, { about, parent, begun = performance.now(), links = [], facts }: SpanStart) {
    this.trace = trace;
    this.about = about;
    this.#parent = parent;
    this.begun = begun;
    this.links = links;
    this.#facts = facts;
  }

  get spanId(): string {
    this.#id ??= newTraceId().slice(16);
    return this.#id;
  }

  get parentId(): string | undefined {
    return this.#parent instanceof RecordedSpan ? this.#parent.spanId : this.#parent;
  }

  get traceId(): string {
    return this.trace.traceId;
  }

  get facts(): SpanFacts {
    return { ...this.#facts, ...this.#endFacts };
  }

  get headers(): TraceHeaders {
    const { traceId, flags, tracestate } = this.trace;
    const traceparent = `00-${traceId}-${this.spanId}-${flags}`;
    return tracestate === undefined ? { traceparent } : { traceparent, tracestate };
  }

  begin(about: SpanAbout, facts?: SpanFacts): Span {
    return new RecordedSpan(this.trace, { about, parent: this, facts });
  }

  beginAside(about: SpanAbout, facts?: SpanFacts): Span {
    return new RecordedSpan(this.trace.startNext(), { about, links: [this], facts });
  }

  link(other: Span): void {
    if (other instanceof RecordedSpan) this.links = [...this.links, other];
  }

  end(facts?: SpanFacts): void {
    if (this.ended !== undefined) return;
    this.ended = performance.now();
    this.#endFacts = facts;
    const { tail } = this.trace;
    if (this.#parent === undefined) tail.decide(isFailure(this.facts));
    tail.end(this);
  }
}

/** 32 hexadecimal digits with 122 random bits, which Node draws for many UUIDs together. */
export function newTraceId(): string {
  return randomUUID().replaceAll('-', '');
}

/** Ended spans of a trace that was not sampled at its start, until its root ends: a failed one is exported after all. */
export interface Tail<T> {
  /** Exports a span once the trace is kept, and never where it is not. */
  end(span: T): void;
  /** Ends the wait. Later calls have no effect. */
  decide(isKept: boolean): void;
}

/** Holds at most `maxSpans` spans of all traces together. Of a kept trace, those beyond are dropped and counted. */
export function createTails<T>(maxSpans: number, exportSpan: (span: T) => void, events: Events): () => Tail<T> {
  let held = 0;
  return () => {
    let waiting: T[] | undefined = [];
    let isKept = false;
    let lost = 0;
    return {
      end(span) {
        if (waiting === undefined) {
          if (isKept) exportSpan(span);
        } else if (held < maxSpans) {
          held += 1;
          waiting.push(span);
        } else lost += 1;
      },
      decide(keep) {
        if (waiting === undefined) return;
        held -= waiting.length;
        isKept = keep;
        if (isKept) for (const span of waiting) exportSpan(span);
        if (isKept && lost > 0) events.spansDropped?.({ spans: lost, reason: 'queue_full' });
        waiting = undefined;
      },
    };
  };
}
