import { expect } from 'chai';
import { createMemos, type Memoized } from '../../../../src/core/reads/snapshots/memo.ts';
import { createSnapshotWriter } from '../../../../src/core/reads/snapshots/snapshot.ts';

function madeOf(length: number): Memoized {
  const writer = createSnapshotWriter(0);
  writer.add([{ id: 'x'.repeat(length) }]);
  return { snapshot: writer.finish() };
}

describe('a memo of what was made', () => {
  it('finds it by the same body, for the same resource alone', () => {
    const memoFor = createMemos(100_000);
    const tools = memoFor('tools');
    const made = madeOf(10);
    tools?.set(tools.keyOf(Buffer.from('body')), made);
    expect(tools?.get(tools.keyOf(Buffer.from('body')))).to.equal(made);
    expect(tools?.get(tools.keyOf(Buffer.from('another body')))).to.equal(undefined);
    const projects = memoFor('projects');
    expect(projects?.get(projects.keyOf(Buffer.from('body')))).to.equal(undefined);
  });

  it('holds no more than it may, and keeps what was used last', () => {
    const tools = createMemos(100_000)('tools');
    for (let index = 0; index < 20; index += 1) {
      tools?.set(`body ${index}`, madeOf(20_000));
      tools?.get('body 0');
    }
    const kept = Array.from({ length: 20 }, (_, index) => index).filter(
      (index) => tools?.get(`body ${index}`) !== undefined,
    );
    expect(kept).to.deep.equal([0, 17, 18, 19]);
  });

  it('does not hold what is too large by itself', () => {
    const tools = createMemos(10_000)('tools');
    tools?.set('body', madeOf(20_000));
    expect(tools?.get('body')).to.equal(undefined);
  });

  it('is none where settings give it no room', () => {
    expect(createMemos(0)('tools')).to.equal(undefined);
  });
});
