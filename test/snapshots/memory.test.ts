import { expect } from 'chai';
import { createMemories, type Made } from '../../src/snapshots/memory.ts';
import { createSnapshotWriter } from '../../src/snapshots/snapshot-writer.ts';

function madeOf(length: number): Made {
  const writer = createSnapshotWriter(0);
  writer.add([{ id: 'x'.repeat(length) }]);
  return { snapshot: writer.finish(), dropped: 0 };
}

describe('the memory of what was made', () => {
  it('finds it by the same content, for the same resource', () => {
    const memoryFor = createMemories(100_000);
    const tools = memoryFor('tools');
    const made = madeOf(10);
    tools?.keep(tools.nameOf('content'), made);
    expect(tools?.recall(tools.nameOf('content'))).to.equal(made);
    expect(tools?.recall(tools.nameOf('another content'))).to.equal(undefined);
    const projects = memoryFor('projects');
    expect(projects?.recall(projects.nameOf('content'))).to.equal(undefined);
  });

  it('holds no more than it may, and keeps what was used last', () => {
    const tools = createMemories(100_000)('tools');
    for (let index = 0; index < 20; index += 1) {
      tools?.keep(`content ${index}`, madeOf(20_000));
      tools?.recall('content 0');
    }
    const kept = Array.from({ length: 20 }, (_, index) => index).filter(
      (index) => tools?.recall(`content ${index}`) !== undefined,
    );
    expect(kept).to.deep.equal([0, 17, 18, 19]);
  });

  it('does not hold what is too large by itself', () => {
    const tools = createMemories(10_000)('tools');
    tools?.keep('content', madeOf(20_000));
    expect(tools?.recall('content')).to.equal(undefined);
  });

  it('is none where settings give it no room', () => {
    expect(createMemories(0)('tools')).to.equal(undefined);
  });
});
