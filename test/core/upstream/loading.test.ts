import { expect } from 'chai';
import { createLoading } from '../../../src/core/upstream/loading.ts';

const MAX = 1000;
const BOUNDS = { maxReadBytes: 500 };

const REFUSED = { code: 'overloaded', bound: 'maxLoadingBytes', countsForBreaker: false };
const expectRefused = (work: () => void) => expect(work).to.throw().that.includes(REFUSED);

function expectTooLarge(work: () => void, bound: string): void {
  const reason = `the pages of the read are larger than ${bound}`;
  expect(work).to.throw().that.includes({ code: 'upstream_invalid', bound, reason });
}

describe('all loads under way', () => {
  it('may hold so much together, and not a byte more', () => {
    const { open } = createLoading({ maxBytes: MAX });
    const [one, other] = [open(BOUNDS), open(BOUNDS)];
    one.hold(500);
    other.hold(500);
    expectRefused(() => other.hold(1));
    other.end();
    const next = open(BOUNDS);
    next.hold(500);
    expectRefused(() => next.hold(1));
  });

  it('hold nothing once they have ended or released it', () => {
    const { open } = createLoading({ maxBytes: MAX });
    for (const load of [open(BOUNDS), open(BOUNDS)]) {
      load.hold(400);
      load.end();
      load.end();
      load.hold(400);
    }
    const next = open(BOUNDS);
    next.hold(MAX);
    next.hold(-MAX);
    next.hold(MAX);
  });

  it('do not refuse a small load for large ones', () => {
    const { open } = createLoading({ maxBytes: MAX });
    for (const ended of [open(BOUNDS), open(BOUNDS)]) ended.end();
    const [large, small] = [open(BOUNDS), open(BOUNDS)];
    large.hold(950);
    small.hold(400);
    expectRefused(() => large.hold(1));
    large.hold(-1);
  });

  it('refuse one that would not fit alone, and a read that is too large by itself', () => {
    const { open } = createLoading({ maxBytes: MAX });
    expectTooLarge(() => open(BOUNDS).hold(MAX + 1), 'maxLoadingBytes');
    const load = open(BOUNDS);
    load.read(400);
    load.read(100);
    expectTooLarge(() => load.read(1), 'maxReadBytes');
  });
});
