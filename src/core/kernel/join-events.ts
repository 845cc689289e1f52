import { type GatewayError, stackOf } from './errors.ts';
import type { Events } from './events.ts';
import type { RequestRecord, RequestRef } from './request-record.ts';

/** Replaces the listeners behind `events`, which remains the same object. */
export function setListeners(events: Events, listeners: readonly Events[]): void {
  for (const name of Object.keys(events)) delete events[name as keyof Events];
  Object.assign(events, joinEvents(listeners));
}

/**
 * Joins listeners into one. An error thrown by a listener is emitted as `internalError` and ends there, so that no
 * listener can end a request or the process.
 */
export function joinEvents(listeners: readonly Events[]): Events {
  const names = new Set(listeners.flatMap((listener) => Object.keys(listener))) as Set<keyof Events>;
  const joined: Events = Object.fromEntries([...names].map((name) => [name, emitterOf(name)]));
  return joined;

  function emitterOf(name: keyof Events): (event: unknown) => void {
    const handlers = listeners.flatMap((listener) => listener[name] ?? []) as ((event: unknown) => void)[];
    return (event) => {
      for (const handle of handlers) {
        try {
          handle(event);
        } catch (error) {
          if (name !== 'internalError') joined.internalError?.(bugOf(event, error));
        }
      }
    };
  }
}

/** Emits the bound that a request reached, if its error has one. A load emits its own, once for all its waiters. */
export function emitLimitReached(events: Events, { bound, upstream }: GatewayError, request: RequestRef): void {
  if (bound === undefined || upstream !== undefined) return;
  events.limitReached?.({ bound, requestId: request.requestId, traceId: request.traceId });
}

function bugOf(event: unknown, error: unknown) {
  const { requestId = 'none', traceId } = event as Partial<RequestRecord>;
  return { requestId, traceId, stack: stackOf(error) };
}
