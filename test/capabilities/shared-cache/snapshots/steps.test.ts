import { expect } from 'chai';
import fc from 'fast-check';
import {
  endOf,
  isRecent,
  loadedBy,
  nextStep,
  pauseMs,
} from '../../../../src/capabilities/shared-cache/snapshots/steps.ts';
import { stageAt } from '../../../../src/core/reads/snapshots/lifetime.ts';
import { SEEDED } from '../../../support/seed.ts';

const LIFETIME = { ttlMs: 60, staleWhileRevalidateMs: 300, staleIfErrorMs: 3600 };

describe('a read at the second level', () => {
  it('asks for the lease, waits for whoever has it, and loads once it is its turn', () => {
    const standing = { waitedMs: 0, patienceMs: 100 };
    expect(nextStep({ ...standing, lease: 'unasked' })).to.equal('ask');
    expect(nextStep({ ...standing, lease: 'other' })).to.equal('wait');
    expect(nextStep({ ...standing, lease: 'ours' })).to.equal('load');
    expect(nextStep({ ...standing, lease: 'other', waitedMs: 100 })).to.equal('load');
  });

  it(`waits as long as it has patience, and asks some times only ${SEEDED}`, () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 60_000 }), (patienceMs) => {
        let waitedMs = 0;
        let times = 0;
        while (nextStep({ lease: 'other', waitedMs, patienceMs }) === 'wait') {
          waitedMs += pauseMs({ lease: 'other', waitedMs, patienceMs });
          times += 1;
        }
        expect(waitedMs).to.equal(patienceMs);
        expect(times).to.be.at.most(40);
      }),
    );
  });

  it('asks again soon at first', () => {
    const pauses = [0, 10, 20, 40, 100, 1000].map((waitedMs) =>
      pauseMs({ lease: 'other', waitedMs, patienceMs: 2000 }),
    );
    expect(pauses).to.deep.equal([10, 10, 10, 20, 50, 100]);
    expect(pauseMs({ lease: 'other', waitedMs: 5000, patienceMs: 10_000 }), 'behind a refresh').to.equal(500);
    expect(pauseMs({ lease: 'other', waitedMs: 400, patienceMs: 1000 }), 'with little patience').to.equal(100);
  });
});

describe('a copy', () => {
  it('is recent until it is as old as may be', () => {
    expect([isRecent(0, 60, 59), isRecent(0, 60, 60), isRecent(0, 0, 0)]).to.deep.equal([true, false, false]);
  });

  it(`ends exactly when it serves nobody any more ${SEEDED}`, () => {
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

  it('of a clock that is a little ahead is one of now, and of one far ahead none', () => {
    expect(loadedBy(900, 1000)).to.equal(900);
    expect(loadedBy(2000, 1000)).to.equal(1000);
    expect(loadedBy(2001, 1000)).to.equal(undefined);
    expect(stageAt(1000, loadedBy(2000, 1000) ?? 0, LIFETIME)).to.equal('fresh');
  });
});
