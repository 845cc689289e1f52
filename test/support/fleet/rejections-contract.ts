import { expect } from 'chai';
import type { RejectionsStore } from '../../../src/capabilities/shared-cache/shared-rejections.ts';
import { eventually } from '../eventually.ts';

/** Holds a store to what `RejectionsStore` promises. Call it within a suite; `connect` gives it as one more replica sees it. */
export function holdToRejectionsContract(connect: () => Promise<RejectionsStore>): void {
  async function replica() {
    const store = await connect();
    const heard: string[] = [];
    return { store, heard, stop: store.onTold((sealed) => heard.push(...sealed)) };
  }

  it('tells every other replica what one has told, each once and in that order', async () => {
    const [one, two, three] = [await replica(), await replica(), await replica()];
    const all = Array.from({ length: 250 }, (_, count) => `sealed-${count}`);
    for (const sealed of all) one.store.tell(sealed);
    await eventually(() => two.heard.length >= all.length && three.heard.length >= all.length);
    two.store.tell('last');
    await eventually(() => one.heard.length > 0 && three.heard.length > all.length);
    expect({ one: one.heard, two: two.heard, three: three.heard }).to.deep.equal({
      one: ['last'],
      two: all,
      three: [...all, 'last'],
    });
  });

  it('tells a replica nothing any more once that does not listen', async () => {
    const [one, two] = [await replica(), await replica()];
    one.store.tell('first');
    await eventually(() => two.heard.length > 0);
    two.stop();
    const again: string[] = [];
    two.store.onTold((sealed) => again.push(...sealed));
    one.store.tell('second');
    await eventually(() => again.length > 0);
    expect(two.heard).to.deep.equal(['first']);
  });
}
