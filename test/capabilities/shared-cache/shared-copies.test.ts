import { expect } from 'chai';
import fc from 'fast-check';
import { endOf } from '../../../src/capabilities/shared-cache/shared-copies.ts';
import type { MemorySemaphore } from '../../../src/core/kernel/tables.ts';
import { stageAt } from '../../../src/core/reads/snapshots/with-snapshots.ts';
import { text } from '../../core/reads/snapshots/departures.ts';
import { eventually } from '../../support/eventually.ts';
import { SEEDED } from '../../support/seed.ts';
import {
  alice,
  departureOf,
  deployment,
  ORIGIN,
  type Replica,
  readAnswered,
  readRefused,
  rejected,
  SECOND,
  secretOf,
} from './deployment.ts';

/** Has a replica load these items, and gives what its reader got once they were put, or not. */
async function readLanding({ tools, puts }: Replica, items: readonly object[]) {
  const put = puts.length;
  const loaded = await readAnswered(tools, items, alice, { noCache: true });
  await eventually(() => puts.length > put);
  return loaded;
}

describe('a copy', () => {
  it('that is evicted while it is being opened is not served', async () => {
    const { replica, clock } = deployment();
    const one = replica();
    await readLanding(one, [{ id: 'old' }]);
    clock.now += SECOND;
    const semaphore: MemorySemaphore = async (_bytes, work) => {
      const made = await work();
      if (opening.puts.length === 0) one.snapshots.evict(ORIGIN, ['tools'], alice);
      return made;
    };
    const opening = replica({ semaphore });
    expect(text(await readAnswered(opening.tools, [{ id: 'new' }]))).to.contain('new');
  });

  it('is linked by the keys of its caller alone: nothing that is kept for long holds a credential', async () => {
    const { replica } = deployment();
    const [one, other] = [replica(), replica()];
    await readLanding(one, [{ id: 'a' }]);
    const evicted: object[] = [];
    Object.assign(one.cache, { evict: (_resource: string, caller: object) => evicted.push(caller) });
    other.snapshots.evict(ORIGIN, ['tools'], alice);
    expect(evicted).to.deep.equal([{ credentialKey: 'alice', cacheScope: 'alice' }]);
  });

  it('that is older than the snapshot in memory is not opened, nor sent to the upstream', async () => {
    const { replica, clock } = deployment();
    await readLanding(replica(), [{ id: 'old' }]);
    clock.now += SECOND;
    const one = replica();
    one.connection.cut();
    await readAnswered(one.tools, [{ id: 'new' }], alice, { rest: { upstreamEtag: '"new"' } });
    one.connection.mend({ missed: false });
    clock.now += 1800 * SECOND;
    void one.tools.read(alice).catch(() => {});
    const { options } = await departureOf(one.tools, 1);
    expect(options?.known).to.include({ upstreamEtag: '"new"' });
  });

  it('is not taken after an eviction under one of two secrets', async () => {
    const { replica, clock, store } = deployment();
    const [older, newer] = [secretOf('older'), secretOf('newer')];
    const [before, rotating] = [replica({ secrets: [older] }), replica({ secrets: [newer, older] })];
    await readLanding(before, [{ id: 'a' }]);
    const [[name, bytes] = ['', Buffer.of()]] = store.held;
    clock.now += SECOND;
    await readRefused(before.projects, rejected);
    clock.now += SECOND;
    store.tamper(name, bytes);
    await readLanding(rotating, [{ id: 'b' }]);
    expect(rotating.outcomes()).to.deep.equal(['miss']);
  });

  it(`ends exactly when it can be served no longer ${SEEDED}`, () => {
    const lifetimes = fc.record({
      ttlMs: fc.nat(500),
      staleWhileRevalidateMs: fc.nat(500),
      staleIfErrorMs: fc.nat(500),
    });
    fc.assert(
      fc.property(lifetimes, fc.option(fc.nat(1000), { nil: undefined }), (lifetime, expiresAt) => {
        const end = endOf(0, lifetime, expiresAt);
        expect(stageAt(end, 0, lifetime, expiresAt)).to.equal('over');
        if (end > 0) expect(stageAt(end - 1, 0, lifetime, expiresAt)).to.not.equal('over');
      }),
    );
  });
});
