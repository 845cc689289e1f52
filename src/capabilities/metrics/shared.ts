import type { Events } from '../../core/kernel/events.ts';
import type { Families } from './families.ts';

/** What replicas share, and the store that they share it by. */
export function sharedMetrics(families: Families): Events {
  const up = families.gauge({
    name: 'portico_shared_up',
    help: 'Whether the store that replicas share is asked now: 1, or 0. Absent where settings have no shared.',
  });
  const lost = families.counter({
    name: 'portico_shared_lost_total',
    help: 'Times that the store was lost, or stayed away for another reason.',
    labels: ['reason'],
  });
  const commands = families.histogram({
    name: 'portico_shared_command_duration_seconds',
    help: 'Commands to the store, until they were answered or given up.',
    labels: ['command', 'outcome'],
  });
  const evictions = families.counter({
    name: 'portico_shared_evictions_total',
    help: 'Names of stored lists that other replicas were told to let go of, and that others told of; and times that some may have been missed.',
    labels: ['direction'],
  });

  const looks = families.counter({
    name: 'portico_shared_looks_total',
    help: 'Reads that memory could not serve, by what the store had for them.',
    labels: ['resource', 'outcome'],
  });
  const puts = families.counter({
    name: 'portico_shared_puts_total',
    help: 'Lists that were loaded, by what became of them in the store.',
    labels: ['resource', 'outcome'],
  });
  const rejections = families.counter({
    name: 'portico_shared_rejections_total',
    help: 'Tokens that an upstream rejected, of which other replicas were told, and of which others told: whether that was of use here.',
    labels: ['outcome'],
  });
  const spared = families.counter({
    name: 'portico_shared_calls_spared_total',
    help: 'Calls that were not made, since another replica had told that the upstream rejected the token.',
    labels: ['upstream'],
  });

  return {
    sharedStoreOpened() {
      up.at().value = 0;
      for (const direction of ['told', 'heard', 'missed']) evictions.at(direction);
      for (const outcome of ['told', 'taken', 'useless', 'altered']) rejections.at(outcome);
    },
    sharedStoreChanged({ isUp, why }) {
      up.at().value = isUp ? 1 : 0;
      if (!isUp) lost.at(why).value += 1;
    },
    sharedStoreAsked({ what, outcome, ms }) {
      commands.at(what, outcome).observe(ms / 1000);
    },
    sharedLooked({ resource, outcome }) {
      looks.at(resource, outcome).value += 1;
    },
    sharedPut({ resource, outcome }) {
      puts.at(resource, outcome).value += 1;
    },
    sharedEvictionsTold({ names }) {
      evictions.at('told').value += names;
    },
    sharedEvictionsHeard({ names }) {
      evictions.at(names === undefined ? 'missed' : 'heard').value += names ?? 1;
    },
    sharedRejectionsTold({ rejections: told }) {
      rejections.at('told').value += told;
    },
    sharedRejectionHeard({ outcome }) {
      rejections.at(outcome).value += 1;
    },
    callRefused({ upstream, shared }) {
      if (shared) spared.at(upstream).value += 1;
    },
  };
}
