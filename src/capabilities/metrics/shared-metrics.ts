import type { Events } from '../../core/kernel/events.ts';
import type { Families } from './families.ts';

const REASONS = ['unreachable', 'tls', 'credential', 'closed', 'stalled', 'replica', 'full', 'failing'];

export function sharedMetrics({ counter, gauge, histogram }: Families): Events {
  const up = gauge('portico_shared_up', 'Whether Redis is in use now: 1, or 0. Absent without the setting shared.');
  const lost = counter(
    'portico_shared_lost_total{reason}',
    'Times that Redis became unavailable, or stayed unavailable for another reason.',
  );
  const commands = histogram(
    'portico_shared_command_duration_seconds{command,outcome}',
    'Commands to Redis, until they were answered or abandoned.',
  );
  const failures = counter(
    'portico_shared_command_failures_total{command,reason}',
    'Commands to Redis that were rejected or not answered in time.',
  );
  const evictions = counter(
    'portico_shared_evictions_received_total',
    'Stored lists that other replicas have evicted.',
  );
  const looks = counter(
    'portico_shared_cache_lookups_total{resource,outcome}',
    'Reads that memory could not serve, by what Redis had for them.',
  );
  const puts = counter(
    'portico_shared_puts_total{resource,outcome}',
    'Loaded lists, by the result of storing them in Redis.',
  );

  return {
    sharedStoreOpened() {
      up(0);
      for (const reason of REASONS) lost(0, reason);
      evictions(0);
    },
    sharedStoreChanged({ isUp, why }) {
      up(isUp ? 1 : 0);
      if (!isUp) lost(1, why);
    },
    sharedCommandEnded({ command, outcome, reason, ms }) {
      commands(ms, command, outcome);
      if (reason !== undefined) failures(1, command, reason);
    },
    sharedLooked: ({ resource, outcome }) => looks(1, resource, outcome),
    sharedPut: ({ resource, outcome }) => puts(1, resource, outcome),
    sharedEvictionsReceived: ({ names }) => evictions(names),
  };
}
