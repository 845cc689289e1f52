import { expect } from 'chai';
import { createJoinedLoader } from '../../../../src/core/reads/catalogue/joined-lists.ts';
import { createLoading } from '../../../../src/core/upstream/loading.ts';
import { callerWith } from '../../../support/authorization/caller.ts';
import { never } from '../snapshots/departures.ts';
import { loaderOver } from './loader-over.ts';

describe('the lists of one resource', () => {
  it('are due when the whole is, however late each of them begins', async () => {
    const due: number[] = [];
    const list = (id: string) => () =>
      loaderOver(async ({ load }) => {
        due.push(load.dueAt);
        return { text: JSON.stringify({ things: [{ id, name: 'n' }] }) };
      });
    const load = createJoinedLoader({
      ...{ resource: 'things', upstream: 'platform', timeoutMs: 5000, concurrency: 1, maxItems: 10, maxPages: 10 },
      ...{ maxReadBytes: 1000, loading: createLoading({ maxBytes: 1000 }), rules: {}, events: {}, now: Date.now },
      lists: [{ open: list('a') }, { open: list('b') }],
    });
    const before = performance.now();
    expect((await load(callerWith(), never)).snapshot.count).to.equal(2);
    expect(due[0])
      .to.equal(due[1])
      .and.to.be.within(before + 5000, performance.now() + 5000);
  });
});
