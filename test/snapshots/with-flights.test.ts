import { expect } from 'chai';
import type { Loader } from '../../src/snapshots/load.ts';
import { withFlights } from '../../src/snapshots/with-flights.ts';
import { callerOf, createTower, failureOf, loadOf, never, settle, text } from './departures.ts';

function flights() {
  const { load, departures } = createTower(() => 0);
  return { read: withFlights(load), departures };
}

const alice = callerOf('alice');

describe('reads of one partition at one time', () => {
  it('share one load', async () => {
    const { read, departures } = flights();
    const readings = [read(alice, never), read(alice, never), read(alice, never)];
    departures[0]?.land([{ id: '1' }]);
    const [first, ...others] = await Promise.all(readings);
    expect(departures).to.have.length(1);
    expect(first?.collapsed).to.equal(undefined);
    for (const other of others) {
      expect(other.collapsed).to.equal(true);
      expect(other.snapshot).to.equal(first?.snapshot);
    }
  });

  it('do not share it with another partition', async () => {
    const { read, departures } = flights();
    const readings = [read(alice, never), read(callerOf('bob'), never)];
    departures[0]?.land([{ id: 'of alice' }]);
    departures[1]?.land([{ id: 'of bob' }]);
    expect((await Promise.all(readings)).map(text)).to.deep.equal(['[{"id":"of alice"}]', '[{"id":"of bob"}]']);
  });

  it('all fail with it, and the next one loads again', async () => {
    const { read, departures } = flights();
    const failure = new Error('the upstream failed');
    const readings = [read(alice, never), read(alice, never)].map(failureOf);
    departures[0]?.fail(failure);
    expect(await Promise.all(readings)).to.deep.equal([failure, failure]);
    const next = read(alice, never);
    departures[1]?.land();
    expect(text(await next)).to.equal('[]');
  });

  it('hang up alone: the others still get their answer', async () => {
    const { read, departures } = flights();
    const caller = new AbortController();
    const leaving = failureOf(read(alice, caller.signal));
    const staying = read(alice, never);
    const gone = new Error('gone');
    caller.abort(gone);
    expect(await leaving).to.equal(gone);
    expect(departures[0]?.signal.aborted).to.equal(false);
    departures[0]?.land();
    expect(text(await staying)).to.equal('[]');
  });

  it('abort the load when the last one hangs up', async () => {
    const { read, departures } = flights();
    const callers = [new AbortController(), new AbortController()];
    const readings = callers.map(({ signal }) => failureOf(read(alice, signal)));
    callers[0]?.abort();
    await settle();
    expect(departures[0]?.signal.aborted).to.equal(false);
    callers[1]?.abort();
    await Promise.all(readings);
    expect(departures[0]?.signal.aborted).to.equal(true);
  });

  it('begin anew after that, though the aborted load has not ended', async () => {
    const ends: (() => void)[] = [];
    // Takes no notice of its signal.
    const load: Loader = () => new Promise((resolve) => ends.push(() => resolve(loadOf())));
    const read = withFlights(load);
    const caller = new AbortController();
    const leaving = failureOf(read(alice, caller.signal));
    caller.abort();
    await leaving;
    const second = read(alice, never);
    ends[0]?.();
    await settle();
    const third = read(alice, never);
    expect(ends).to.have.length(2);
    ends[1]?.();
    expect((await Promise.all([second, third])).map(({ collapsed }) => collapsed)).to.deep.equal([undefined, true]);
  });

  it('load nothing for who is gone already', async () => {
    const { read, departures } = flights();
    const gone = new Error('gone');
    expect(await failureOf(read(alice, AbortSignal.abort(gone)))).to.equal(gone);
    expect(departures).to.deep.equal([]);
  });

  it('count only their own wait for the upstream', async () => {
    const { read, departures } = flights();
    const first = read(alice, never);
    const second = read(alice, never);
    departures[0]?.land([], { upstreamMs: 60_000 });
    expect((await first).upstreamMs).to.equal(60_000);
    expect((await second).upstreamMs).to.be.below(60_000);
  });
});
