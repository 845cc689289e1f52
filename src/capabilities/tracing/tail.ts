import type { Events } from '../../core/kernel/events.ts';

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
