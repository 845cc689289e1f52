import { during } from '../../../capabilities/tracing/during.ts';
import { type Caller, under } from '../../kernel/caller.ts';
import type { Events } from '../../kernel/events.ts';
import { createFlights } from '../../kernel/flights.ts';
import type { Span } from '../../kernel/span.ts';
import { requestOf } from '../../kernel/trace.ts';
import type { Load, Loader, LoadOptions } from './load.ts';
import type { Waiting } from './waiting.ts';

export interface FlightsOptions {
  readonly resource: string;
  /** Counts the readers. */
  readonly waiting: Waiting;
  readonly events: Events;
}

/**
 * Shares one load among concurrent reads of one credential. A reader leaves with its own signal; when the last one
 * leaves, the load is aborted. An error reaches all readers, and the next read loads again.
 *
 * A shared load belongs to one credential, whatever the partition. Readers have their own deadlines; the load has its
 * upstream's, from its start.
 *
 * Each reader occupies a waiting slot; without one, nothing is loaded for it.
 */
export function withFlights(load: Loader, { resource, waiting, events }: FlightsOptions): Loader {
  const flights = createFlights<Load>();
  /** Spans of traced loads in flight. */
  const spans = new Map<string, Span>();

  /** Runs the load in the trace of the reader that started it. */
  async function fly(caller: Caller, signal: AbortSignal, options?: LoadOptions): Promise<Load> {
    const { key } = caller;
    const span = caller.span?.begin('load', { resource });
    if (span !== undefined) spans.set(key, span);
    try {
      const work = () => load(under(caller, span), signal, options);
      return await during(span, signal, work, ({ pages, snapshot, dropped }) => ({
        ...{ pages, dropped, items: snapshot.count },
      }));
    } finally {
      if (spans.get(key) === span) spans.delete(key);
    }
  }

  function tellJoined(caller: Caller): void {
    events.flightJoined?.({ ...requestOf(caller), resource });
    const flight = spans.get(caller.key);
    if (flight !== undefined) caller.span?.link(flight);
  }

  return async (caller, signal, options) => {
    signal.throwIfAborted();
    const { key } = caller;
    waiting.enter(caller);
    try {
      const joins = flights.has(key);
      if (joins) tellJoined(caller);
      const begun = performance.now();
      const landed = await flights.board(key, signal, (shared) => fly(caller, shared, options));
      if (!joins) return landed;
      return { ...landed, collapsed: true, upstreamMs: Math.min(landed.upstreamMs, performance.now() - begun) };
    } finally {
      waiting.leave(caller);
    }
  };
}
