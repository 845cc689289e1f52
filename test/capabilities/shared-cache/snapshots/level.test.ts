import { expect } from 'chai';
import { createSharedLevel } from '../../../../src/capabilities/shared-cache/snapshots/level.ts';
import { settle } from '../../../core/reads/snapshots/departures.ts';
import { createMemoryStore } from '../../../support/fleet/shared-store.ts';
import { SECRET } from './replicas.ts';

describe('the second level', () => {
  const open = (maxNames = 10) =>
    createSharedLevel({
      ...{ store: createMemoryStore(Date.now).connect(), secrets: [SECRET] },
      ...{ leaseMs: 1000, waitMs: 1000, maxValueBytes: 1000, maxNames, now: Date.now },
    });

  it('has no reader wait who has hung up', async () => {
    const leaving = new AbortController();
    const waiting = open().sleep(86_400_000, leaving.signal);
    leaving.abort();
    expect(await waiting.then(String, ({ name }: Error) => name)).to.equal('AbortError');
  });

  it('seals and opens two lists at a time, and as much as takes 64 MiB', async () => {
    const { inHand } = open();
    const ends: (() => void)[] = [];
    const take = (bytes: number) => inHand(bytes, () => new Promise<void>((resolve) => ends.push(resolve)));
    const taken = [take(1), take(1), take(1)];
    await settle();
    expect(ends).to.have.length(2);
    expect(await take(67_108_864 - 2)).to.equal('overloaded');
    for (const end of ends) end();
    await settle();
    ends.at(-1)?.();
    await Promise.all(taken);
  });

  it('remembers as many lists that were too long as it follows names', () => {
    const { tooLong } = open(2);
    for (const name of ['a', 'b', 'c']) tooLong.add(name);
    expect(['a', 'b', 'c'].map(tooLong.has)).to.deep.equal([false, true, true]);
  });
});
