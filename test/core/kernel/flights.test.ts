import { expect } from 'chai';
import { createFlights } from '../../../src/core/kernel/flights.ts';

const never = new AbortController().signal;

/** Work that lands when the test says so. */
function flying() {
  const flights = createFlights<string>();
  const begun: {
    readonly signal: AbortSignal;
    readonly land: (value: string) => void;
    readonly fail: (e: Error) => void;
  }[] = [];
  const board = (key: string, signal = never) =>
    flights.board(key, signal, (shared) => {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      begun.push({ signal: shared, land: resolve, fail: reject });
      return promise;
    });
  return { flights, board, begun };
}

const reasonOf = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail('it landed'),
    (error: unknown) => error,
  );

describe('work that several wait for', () => {
  it('is done once for all concurrent callers, and again for the next one', async () => {
    const { flights, board, begun } = flying();
    const waiting = [board('a'), board('a'), board('b')];
    expect([flights.has('a'), flights.has('c'), begun.length]).to.deep.equal([true, false, 2]);
    begun[0]?.land('one');
    begun[1]?.land('two');
    expect(await Promise.all(waiting)).to.deep.equal(['one', 'one', 'two']);
    expect(flights.has('a')).to.equal(false);
    const next = board('a');
    begun[2]?.land('three');
    expect(await next).to.equal('three');
  });

  it('continues when one waiter leaves, and is aborted when the last one does', async () => {
    const { flights, board, begun } = flying();
    const [first, second] = [new AbortController(), new AbortController()];
    const waiting = [board('a', first.signal), board('a', second.signal)].map(reasonOf);
    first.abort('first');
    expect(await waiting[0]).to.equal('first');
    expect(begun[0]?.signal.aborted).to.equal(false);
    second.abort('second');
    expect(await waiting[1]).to.equal('second');
    expect(begun[0]?.signal.aborted).to.equal(true);
    // What was left does not land for whoever comes next, nor does its end take the next one's place.
    const next = board('a');
    begun[0]?.fail(new Error('aborted'));
    await new Promise(setImmediate);
    expect(flights.has('a')).to.equal(true);
    begun[1]?.land('anew');
    expect(await next).to.equal('anew');
  });

  it('fails for all of them, and is forgotten', async () => {
    const { board, begun } = flying();
    const waiting = [board('a'), board('a')].map(reasonOf);
    const error = new Error('failed');
    begun[0]?.fail(error);
    expect(await Promise.all(waiting)).to.deep.equal([error, error]);
    const next = board('a');
    begun[1]?.land('well');
    expect(await next).to.equal('well');
  });

  it('is not begun for a caller that has left already', async () => {
    const { board, begun } = flying();
    expect(await reasonOf(board('a', AbortSignal.abort('gone')))).to.equal('gone');
    expect(begun).to.deep.equal([]);
  });
});
