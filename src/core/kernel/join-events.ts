import { stackOf } from './causes.ts';
import type { GatewayError } from './errors.ts';
import type { Events } from './events.ts';
import type { RequestRecord, RequestRef } from './request-record.ts';

/** Replaces the listeners behind `events`, which stays the same object. */
export function setListeners(events: Events, listeners: readonly Events[]): void {
  for (const name of Object.keys(events)) delete events[name as keyof Events];
  Object.assign(events, joinEvents(listeners));
}

/**
 * All of these listeners as one. What a listener throws is told as an `internalError`, and ends there: no bug of a
 * listener may end a request, or the process.
 */
export function joinEvents(listeners: readonly Events[]): Events {
  const names = new Set(listeners.flatMap((listener) => Object.keys(listener))) as Set<keyof Events>;
  const joined: Events = Object.fromEntries([...names].map((name) => [name, tell(name)]));
  return joined;

  function tell(name: keyof Events): (event: unknown) => void {
    const heard = listeners.flatMap((listener) => listener[name] ?? []) as ((event: unknown) => void)[];
    return (event) => {
      for (const hear of heard) {
        try {
          hear(event);
        } catch (error) {
          if (name !== 'internalError') joined.internalError?.(bugOf(event, error));
        }
      }
    };
  }
}

/**
 * Tells of the bound that a request met, if its error is one of those. What a load met is told by the load, once for all who
 * waited for it.
 */
export function tellBound(events: Events, { bound, upstream }: GatewayError, request: RequestRef): void {
  if (bound === undefined || upstream !== undefined) return;
  events.boundReached?.({ bound, requestId: request.requestId, traceId: request.traceId });
}

function bugOf(event: unknown, error: unknown) {
  const { requestId = 'none', traceId } = event as Partial<RequestRecord>;
  return { requestId, traceId, stack: stackOf(error) };
}
