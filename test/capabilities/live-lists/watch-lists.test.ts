import { expect } from 'chai';
import { createPolls } from '../../../src/capabilities/live-lists/list-polls.ts';
import { createWatch } from '../../../src/capabilities/live-lists/live-lists.ts';
import { createKeyOf } from '../../../src/core/credentials/authenticate.ts';
import { limitsWith } from '../../../src/core/kernel/limits.ts';
import type { Load } from '../../../src/core/reads/snapshots/load.ts';
import { callerWith } from '../../support/authorization/caller.ts';
import { eventually } from '../../support/eventually.ts';
import { loadOf, toolItem } from '../../support/platform/loads.ts';

/** A watch of lists that the test reads, and its subscriptions. */
function watching(read: () => Promise<Load>) {
  const { subscriptions: bounds } = limitsWith({ subscriptions: { pollMs: 5, maxPollMs: 10 } });
  const failures: unknown[] = [];
  const counts: number[] = [];
  const events = {
    refreshFailed: ({ error }: { readonly error: unknown }) => void failures.push(error),
    subscriptionsChanged: ({ open }: { readonly open: number }) => void counts.push(open),
  };
  const polls = createPolls({ bounds, verify: () => undefined, keyOf: createKeyOf(), events, now: Date.now });
  const watch = createWatch({ bounds, polls, maxConnections: () => 100, events, now: Date.now });
  const begin = (...until: AbortSignal[]) =>
    watch({ resources: ['tools'], caller: callerWith(), catalogue: { read }, until, isLocal: false });
  return { begin, failures, counts };
}

describe('a watch of lists', () => {
  it('that has ended before it begins reads nothing', async () => {
    const { begin, counts } = watching(() => expect.fail());
    for await (const _ of await begin(AbortSignal.abort())) expect.fail();
    expect(counts).to.deep.equal([1, 0]);
  });

  it('ends with the first of its signals, also while it is read for the first time', async () => {
    const { promise, resolve } = Promise.withResolvers<Load>();
    const { begin, counts } = watching(() => promise);
    const controllers = [new AbortController(), new AbortController()];
    const begun = begin(...controllers.map(({ signal }) => signal));
    controllers[1]?.abort();
    controllers[0]?.abort();
    resolve(loadOf());
    for await (const _ of await begun) expect.fail();
    expect(counts).to.deep.equal([1, 0]);
  });

  it('reports a bug of a read, and reads again', async () => {
    const loads = [() => Promise.reject(new Error('a bug of the test')), async () => loadOf([toolItem('a')])];
    const { begin, failures, counts } = watching(
      () => (loads.length > 1 ? loads.shift() : loads[0])?.() ?? expect.fail(),
    );
    for await (const changed of await begin()) {
      expect(changed).to.deep.equal({ name: 'tools', etag: loadOf([toolItem('a')]).snapshot.etag });
      break;
    }
    expect(failures.map(String)).to.deep.equal(['Error: a bug of the test']);
    await eventually(() => counts.at(-1) === 0);
  });
});
