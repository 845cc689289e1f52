import type { Events } from '../../core/kernel/events.ts';

/** Ended spans of a trace that was not sampled at its start, until its root ends: a failed one is exported after all. */
export interface Tail {
  /** Exports a span once the trace is kept, and never where it is not. */
  end(exportSpan: () => void): void;
  /** Ends the wait. Later calls have no effect. */
  decide(isKept: boolean): void;
  /** Opens the tail of a trace that begins beside this one. */
  next(): Tail;
}

/** Holds at most `maxSpans` spans of all traces together. Of a kept trace, those beyond are dropped and counted. */
export function createTails(maxSpans: number, events: Events): () => Tail {
  let held = 0;
  return function open(): Tail {
    let waiting: (() => void)[] | undefined = [];
    let isKept = false;
    let lost = 0;
    return {
      end(exportSpan) {
        if (waiting === undefined) {
          if (isKept) exportSpan();
        } else if (held < maxSpans) {
          held += 1;
          waiting.push(exportSpan);
        } else lost += 1;
      },
      decide(keep) {
        if (waiting === undefined) return;
        held -= waiting.length;
        isKept = keep;
        if (isKept) for (const exportSpan of waiting) exportSpan();
        if (isKept && lost > 0) events.spansDropped?.({ spans: lost, reason: 'queue_full' });
        waiting = undefined;
      },
      next: open,
    };
  };
}
