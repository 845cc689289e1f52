import type { Events } from '../../core/kernel/events.ts';
import type { RejectionListener, RejectionStore } from '../../core/upstream/resilience/with-authorization.ts';
import type { Announcements } from './announcements.ts';

export interface SharedRejectionsOptions {
  readonly announcements: Pick<Announcements, 'reject' | 'onRejection'>;
  /** Keyed hash of a text, base64url: the same on all replicas. */
  readonly keyOf: (text: string) => string;
  readonly events: Events;
  readonly now: () => number;
}

/** Tolerated difference between the clocks of two replicas: what was rejected up to that far in the future was rejected now. */
const MAX_CLOCK_SKEW_MS = 1000;

/** Rejections with their time: a message that is replayed rejects a credential no longer than it did the first time. */
export function createSharedRejections(options: SharedRejectionsOptions): RejectionStore {
  const { announcements, keyOf, events, now } = options;
  const subscriptions = new Set<{
    readonly by: string;
    readonly ttlMs: number;
    readonly listener: RejectionListener;
  }>();

  announcements.onRejection((rejection) => {
    const [at, by = '', callerKey = ''] = rejection.split(' ');
    const ageMs = now() - Number(at);
    const concerned = [...subscriptions].filter((one) => one.by === by && ageMs < one.ttlMs);
    const isUsed = concerned.length > 0 && ageMs >= -MAX_CLOCK_SKEW_MS;
    if (isUsed) for (const { listener } of concerned) listener(callerKey, Math.max(ageMs, 0));
    events.sharedRejectionReceived?.({ outcome: isUsed ? 'taken' : 'useless' });
  });

  return {
    of(calledAs) {
      const by = keyOf(calledAs);
      return {
        announce: (callerKey) => announcements.reject(`${now()} ${by} ${callerKey}`),
        subscribe(ttlMs, listener) {
          const subscription = { by, ttlMs, listener };
          subscriptions.add(subscription);
          return () => subscriptions.delete(subscription);
        },
      };
    },
  };
}
