import { mock } from 'node:test';
import { expect } from 'chai';
import { type BreakerState, createBreaker } from '../../../../src/core/upstream/resilience/with-breaker.ts';

describe('a breaker', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] }));
  afterEach(() => mock.timers.reset());

  function create() {
    const changes: [BreakerState, number, number][] = [];
    const breaker = createBreaker({
      failurePercent: 50,
      minimumCalls: 2,
      windowMs: 1000,
      openMs: 100,
      now: () => Date.now(),
      onChange: (state, { calls, failures }) => changes.push([state, calls, failures]),
    });
    return { breaker, changes };
  }

  it('has changed its state, and begun another generation, when it receives an outcome', () => {
    const { breaker } = create();
    breaker.record(false);
    expect(breaker).to.include({ state: 'closed', generation: 0, remainingMs: 0 });
    breaker.record(false);
    expect(breaker).to.include({ state: 'open', generation: 1, remainingMs: 100 });
    mock.timers.tick(40);
    expect(breaker).to.include({ state: 'open', generation: 1, remainingMs: 60 });
    mock.timers.tick(60);
    expect(breaker).to.include({ state: 'half-open', generation: 2, remainingMs: 0 });
    breaker.record(false);
    expect(breaker).to.include({ state: 'open', generation: 3, remainingMs: 100 });
    mock.timers.tick(100);
    breaker.record(true);
    expect(breaker).to.include({ state: 'closed', generation: 5, remainingMs: 0 });
    breaker.close();
  });

  it('reports each change with what the window held', () => {
    const { breaker, changes } = create();
    breaker.record(true);
    breaker.record(false);
    breaker.record(false);
    expect(changes).to.deep.equal([['open', 3, 2]]);
    breaker.close();
  });

  it('drops outcomes from the window a tenth of it at a time', () => {
    const { breaker, changes } = create();
    breaker.record(false);
    mock.timers.tick(850);
    breaker.record(true);
    breaker.record(true);
    mock.timers.tick(100);
    breaker.record(false);
    expect(breaker.state).to.equal('closed');
    mock.timers.tick(100);
    breaker.record(true);
    breaker.record(false);
    breaker.record(false);
    // The first failure is gone by now; the success and the failure after it are not.
    expect(changes).to.deep.equal([]);
    breaker.record(false);
    expect(changes).to.deep.equal([['open', 7, 4]]);
    breaker.close();
  });

  it('takes no harm from outcomes that come after its end', () => {
    const { breaker, changes } = create();
    breaker.close();
    for (let count = 0; count < 5; count += 1) breaker.record(false);
    expect(breaker.state).to.equal('closed');
    expect(changes).to.deep.equal([]);
  });
});
