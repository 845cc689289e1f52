import { expect } from 'chai';
import { createPatience } from '../../../../src/capabilities/shared-cache/snapshots/patience.ts';

describe('the patience with loads of other replicas', () => {
  function patience() {
    const clock = { now: 0 };
    return { clock, ...createPatience({ waitMs: 500, pauseMs: 10_000, clock: () => clock.now }) };
  }

  it('is that of settings, also where some waits were in vain', () => {
    const { take, ended } = patience();
    for (let times = 0; times < 100; times += 1) {
      expect(take()).to.equal(500);
      ended(times % 8 === 7 ? 'well' : 'in vain');
    }
  });

  it('ends after eight in vain, but for one that tries it every now and then', () => {
    const { clock, take, ended } = patience();
    for (let times = 0; times < 8; times += 1) ended('in vain');
    expect(take()).to.equal(0);
    clock.now = 9999;
    expect(take()).to.equal(0);
    clock.now = 10_000;
    expect(take()).to.equal(500);
    expect(take(), 'while that one waits').to.equal(0);
    ended('in vain');
    clock.now = 19_999;
    expect(take()).to.equal(0);
    clock.now = 20_000;
    expect(take()).to.equal(500);
  });

  it('is back with the first wait that brings something', () => {
    const { take, ended } = patience();
    for (let times = 0; times < 20; times += 1) ended('in vain');
    expect(take()).to.equal(0);
    ended('well');
    expect(take()).to.equal(500);
    expect(take()).to.equal(500);
  });
});
