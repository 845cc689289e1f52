import { createKeyOf } from '../../core/credentials/authenticate.ts';
import { createSizedLru } from '../../core/kernel/tables.ts';
import { type SharedCounts, type Sharing, shareNothing } from '../../core/sharing.ts';
import type { CountsAdded, CountsToAdd } from './messages.ts';

/** Counters of all workers; the one that was not used for longest goes first. */
const MAX_COUNTERS = 100_000;

type Counted = CountsAdded['counted'];

/** Counts for all workers, in the primary process. */
export function createCounts(now = () => performance.now()): (added: CountsToAdd) => Counted {
  const counters = createSizedLru<string, { total: number; readonly endsAt: number }>({ maxSize: MAX_COUNTERS, now });
  return ({ units, windowMs }) =>
    units.map(([name, more]) => {
      const counter = counters.get(name) ?? { total: 0, endsAt: now() + windowMs };
      counter.total += more;
      const restMs = counter.endsAt - now();
      counters.set(name, counter, restMs);
      return { total: counter.total, restMs };
    });
}

/** State that a worker shares with the others: keys of callers and counters. `send` resolves with the counts of the primary process. */
export function shareCounts(secret: string, send: (added: CountsToAdd) => Promise<Counted>): Sharing {
  const keyOf = createKeyOf(Buffer.from(secret, 'base64url'));
  const counts: SharedCounts = {
    add: (units, windowMs) => send({ units: [...units], windowMs }),
    nameOf: keyOf,
  };
  return { ...shareNothing(), keyOf, counts };
}
