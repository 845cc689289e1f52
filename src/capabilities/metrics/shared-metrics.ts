import type { Events } from '../../core/kernel/events.ts';
import type { Families } from './families.ts';

/** Why Redis can be unavailable. */
const REASONS = ['unreachable', 'tls', 'credential', 'closed', 'stalled', 'replica', 'full', 'failing'];

/** What replicas share through Redis. */
export function sharedMetrics({ counter, gauge, histogram }: Families): Events {
  const up = gauge(
    'portico_shared_up',
    'Whether Redis is in use now: 1, or 0. Absent without the setting shared.',
    [],
    'min',
  );
  const lost = counter(
    'portico_shared_lost_total',
    'Times that Redis became unavailable, or stayed unavailable for another reason.',
    ['reason'],
  );
  const commands = histogram(
    'portico_shared_command_duration_seconds',
    'Commands to Redis, until they were answered or abandoned.',
    ['command', 'outcome'],
  );
  const failures = counter(
    'portico_shared_command_failures_total',
    'Commands to Redis that were rejected or not answered in time.',
    ['command', 'reason'],
  );
  const evictions = counter(
    'portico_shared_evictions_total',
    'Evictions of stored lists that were sent to other replicas, or received; and times that some can have been missed.',
    ['direction'],
  );
  const looks = counter(
    'portico_shared_looks_total',
    'Reads that memory could not serve, by what Redis had for them.',
    ['resource', 'outcome'],
  );
  const puts = counter('portico_shared_puts_total', 'Loaded lists, by the result of storing them in Redis.', [
    'resource',
    'outcome',
  ]);
  const rejections = counter(
    'portico_shared_rejections_total',
    'Rejected tokens that were reported to other replicas, or by them, and whether the report was of use.',
    ['outcome'],
  );
  const spared = counter(
    'portico_shared_calls_spared_total',
    'Calls that were not made because another replica had reported that the upstream rejected the token.',
    ['upstream'],
  );
  up({}, undefined);

  return {
    sharedStoreOpened() {
      up({}, 0);
      for (const reason of REASONS) lost({ reason }, 0);
      for (const direction of ['sent', 'received', 'missed']) evictions({ direction }, 0);
      for (const outcome of ['sent', 'taken', 'useless', 'altered']) rejections({ outcome }, 0);
    },
    sharedStoreChanged({ isUp, why }) {
      up({}, isUp ? 1 : 0);
      if (!isUp) lost({ reason: why });
    },
    sharedCommandEnded({ command, outcome, reason, ms }) {
      commands({ command, outcome }, ms);
      if (reason !== undefined) failures({ command, reason });
    },
    sharedLooked: ({ resource, outcome }) => looks({ resource, outcome }),
    sharedPut: ({ resource, outcome }) => puts({ resource, outcome }),
    sharedEvictionsSent: ({ names }) => evictions({ direction: 'sent' }, names),
    sharedEvictionsReceived: ({ names }) =>
      evictions({ direction: names === undefined ? 'missed' : 'received' }, names ?? 1),
    sharedRejectionsSent: ({ rejections: count }) => rejections({ outcome: 'sent' }, count),
    sharedRejectionReceived: ({ outcome }) => rejections({ outcome }),
    callRefused({ upstream, shared }) {
      if (shared) spared({ upstream });
    },
  };
}
