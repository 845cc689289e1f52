import { expect } from 'chai';
import { createHistory, SLOT_MS, SLOTS } from '../../../src/capabilities/status/recent-counts.ts';

describe('the history of the last ten minutes', () => {
  let clock = 1_800_000_000_000;
  const later = (slots: number) => {
    clock += slots * SLOT_MS;
  };

  it('drops what is older than ten minutes, also without new requests', () => {
    const history = createHistory(() => clock);
    history.add(1, false);
    later(SLOTS - 1);
    expect(history.total().requests).to.equal(1);
    later(1);
    expect(history.total().requests).to.equal(0);
    later(SLOTS - 1);
    history.add(1, false);
    expect(history.total().requests).to.equal(1);
  });

  it('has p95 to a fifth, of at most 26 s', () => {
    const history = createHistory(() => clock);
    expect(history.total()).to.deep.equal({ requests: 0, failures: 0, p95Ms: 0 });
    for (let count = 0; count < 94; count += 1) history.add(3);
    for (let count = 0; count < 6; count += 1) history.add(700);
    expect(history.total().p95Ms).to.be.within(700, 840);
    for (const [ms, expected] of [
      [90_000, 26_200],
      [0, 0.1],
    ] as const) {
      later(SLOTS);
      history.add(ms);
      expect(history.total().p95Ms).to.equal(expected);
    }
  });
});
