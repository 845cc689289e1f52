import { expect } from 'chai';
import { createUnread } from '../../../../src/core/http/connection/unread.ts';

function setUp(maxBytes: number) {
  const cut: string[] = [];
  const reader = (name: string) => ({ name, unsentBytes: 0, takenBytes: 0, taken: 0 });
  const unread = createUnread<ReturnType<typeof reader>>({
    maxBytes,
    takenBy: ({ taken }) => taken,
    cut: ({ name }) => cut.push(name),
  });
  return { cut, reader, ...unread };
}

describe('account of unread bytes', () => {
  it('is kept of each and of all', () => {
    const { cut, reader, add, remove } = setUp(100);
    const [one, other] = [reader('one'), reader('other')];
    add(one, 60);
    add(other, 40);
    expect(cut).to.deep.equal([]);
    remove(one, 60);
    add(other, 60);
    expect(cut).to.deep.equal([]);
    expect([one.unsentBytes, other.unsentBytes]).to.deep.equal([0, 100]);
  });

  it('cuts the one first that has read nothing for longest, and no more than need be', () => {
    const { cut, reader, add, remove } = setUp(100);
    const [steady, idle, newest] = [reader('steady'), reader('idle'), reader('newest')];
    add(steady, 20);
    add(steady, 20);
    add(idle, 50);
    // It has something unread for longest, but reads.
    remove(steady, 20);
    add(newest, 60);
    expect(cut).to.deep.equal(['idle']);
    expect([steady.unsentBytes, idle.unsentBytes, newest.unsentBytes]).to.deep.equal([20, 0, 60]);
    add(newest, 20);
    expect(cut).to.deep.equal(['idle']);
    add(newest, 1);
    expect(cut).to.deep.equal(['idle', 'steady']);
  });

  it('spares one that reads, though it has read no whole response for longest, unless all of them do', () => {
    const { cut, reader, add } = setUp(100);
    const [slow, idle, newest] = [reader('slow'), reader('idle'), reader('newest')];
    add(slow, 40);
    add(idle, 40);
    slow.taken = 10;
    add(newest, 40);
    expect(cut).to.deep.equal(['idle']);
    // All that are left read a little: then the one that was not looked at for longest.
    slow.taken = 20;
    newest.taken = 20;
    add(newest, 40);
    expect(cut).to.deep.equal(['idle', 'newest']);
    expect([slow.unsentBytes, newest.unsentBytes]).to.deep.equal([40, 0]);
  });
});
