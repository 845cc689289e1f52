import { expect } from 'chai';
import { expectedText, readExpected, writtenText } from '../../bench/expected.ts';
import { figureOf, isRowWorse, isWorse, type Measured, measuredOf, meetsAim } from '../../bench/figures.ts';
import { comparison } from '../../bench/report.ts';
import { SCENARIOS } from '../../bench/scenarios.ts';

const figure = (value: number, spread: number) => ({ value, spread });
const ratio = (value: number, cpu = value): Measured => {
  return { unit: 'ratio', aim: 0.7, figure: figure(value, 0.05), cpu: figure(cpu, 0.05) };
};

describe('the figures of the bench', () => {
  it('are medians, with half the distance between the 10th and 90th percentiles as spread', () => {
    expect(figureOf([10, 11, 12, 13, 14, 15, 16, 17, 18, 1000])).to.deep.equal(figure(15, 495));
    expect(figureOf([0.9, 0.5, 0.6, 0.7, 0.8, 0.1, 0.65, 0.75, 0.72, 0.68, 9])).to.deep.equal(figure(0.7, 0.2));
  });

  it('have a spread of at least 3 % of the median', () => {
    expect(figureOf([100, 100, 100])).to.deep.equal(figure(100, 3));
  });

  it('keep the unit and the aim of their row', () => {
    expect(measuredOf({ name: 'row', unit: 'ms', aim: 300 }, { values: [200] })).to.deep.equal({
      ...{ unit: 'ms', aim: 300, figure: figure(200, 6) },
    });
  });
});

describe('the verdict of the bench', () => {
  it('is worse where a ratio is lower than expected by more than both spreads', () => {
    expect(isWorse('ratio', figure(0.5, 0.1), figure(0.7, 0.05))).to.equal(true);
    expect(isWorse('ratio', figure(0.56, 0.1), figure(0.7, 0.05))).to.equal(false);
    expect(isWorse('ratio', figure(2, 0.1), figure(0.7, 0.05))).to.equal(false);
  });

  for (const unit of ['ms', 'MB', 'times', 'round trips'] as const) {
    it(`is worse where a figure in ${unit} is higher than expected by more than both spreads`, () => {
      expect(isWorse(unit, figure(120, 5), figure(100, 5))).to.equal(true);
      expect(isWorse(unit, figure(109, 5), figure(100, 5))).to.equal(false);
      expect(isWorse(unit, figure(10, 5), figure(100, 5))).to.equal(false);
    });
  }

  it('is worse where nothing was measured', () => {
    expect(isWorse('ms', figureOf([]), figure(100, 5))).to.equal(true);
  });

  it('is that of requests and of CPU time', () => {
    expect(isRowWorse(ratio(0.5, 0.5), ratio(0.5, 0.5))).to.equal(false);
    expect(isRowWorse(ratio(0.3, 0.5), ratio(0.5, 0.5))).to.equal(true);
    expect(isRowWorse(ratio(0.5, 0.3), ratio(0.5, 0.5))).to.equal(true);
    expect(isRowWorse(ratio(0.1), undefined)).to.equal(false);
  });

  it('is shown with the figures, the expected ones and the aim', () => {
    const text = comparison({ a: ratio(0.5), b: ratio(0.8) }, { a: ratio(0.9) }, new Set(['a']));
    expect(text).to.include('| a | 0.5 ± 0.05 | 0.9 ± 0.05 | 0.5 ± 0.05 | 0.9 ± 0.05 | ≥ 0.7: missed | worse |');
    expect(text).to.include('| b | 0.8 ± 0.05 |  | 0.8 ± 0.05 |  | ≥ 0.7: met | new |');
  });

  it('compares aims with figures', () => {
    expect([0.69, 0.7].map((value) => meetsAim(ratio(value)))).to.deep.equal([false, true]);
    expect(meetsAim(ratio(0.8, 0.6))).to.equal(false);
    expect(meetsAim({ unit: 'ms', aim: 20, figure: figure(21, 1) })).to.equal(false);
    expect(meetsAim({ unit: 'ms', figure: figure(21, 1) })).to.equal(undefined);
  });
});

describe('bench/expected.json', () => {
  const expected = readExpected();

  it('has the rows that are measured, in their order, with their units and aims', () => {
    const rows = SCENARIOS.flatMap(({ rows }) => rows).map(({ name, unit, aim }) => [name, unit, aim]);
    const written = Object.entries(expected.rows).map(([name, { unit, aim }]) => [name, unit, aim]);
    expect(written).to.deep.equal(rows);
  });

  it('has the figures of docs/performance.md', () => {
    expect(writtenText()).to.equal(expectedText(expected));
  });
});
