import { expect } from 'chai';
import { createSampler } from '../../../src/capabilities/tracing/sampling.ts';

const DRAWS = 10_000;

const drawn = (ratio: number) => {
  const draw = createSampler(ratio);
  return Array.from({ length: DRAWS }, draw).filter((id) => id !== undefined);
};

describe('a draw', () => {
  it('keeps all, or none, where the ratio says so', () => {
    expect(drawn(1)).to.have.length(DRAWS);
    expect(drawn(0)).to.have.length(0);
  });

  it('keeps about as many as the ratio says', () => {
    // Eleven standard deviations to either side.
    expect(drawn(0.25).length).to.be.within(2000, 3000);
    expect(drawn(0.01).length).to.be.within(1, 300);
  });

  it('gives each trace an id of its own, of 32 hexadecimal digits', () => {
    const ids = drawn(1);
    expect(new Set(ids).size).to.equal(DRAWS);
    for (const id of ids) expect(id).to.match(/^(?!0{32})[0-9a-f]{32}$/);
  });

  it('goes by the rightmost bits, as others do', () => {
    for (const id of drawn(0.25)) expect(Number.parseInt(id.slice(18, 30), 16)).to.be.at.least(0.75 * 2 ** 48);
  });
});
