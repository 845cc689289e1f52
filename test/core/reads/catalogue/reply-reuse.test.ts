import { expect } from 'chai';
import type { Events } from '../../../../src/core/kernel/events.ts';
import type { Pagination } from '../../../../src/core/upstream/paging/page-address.ts';
import { callerWith } from '../../../support/authorization/caller.ts';
import { errorOf, never } from '../snapshots/fake-loader.ts';
import { listWith, loaderOver, mapperWith, TOKEN } from './loader-over.ts';

const HEADER_LINK: Pagination = { kind: 'link', sizeParam: null, size: 2 };
const HEADER_TOTAL: Pagination = {
  kind: 'offset',
  sizeParam: null,
  size: 2,
  offsetParam: 'skip',
  totalHeader: 'total',
  concurrency: 1,
};

interface Answer {
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Overrides {
  readonly pagination?: Pagination;
  readonly where?: string;
  readonly events?: Events;
  readonly now?: () => number;
}

/** A loader over an upstream that gives these answers in turn, and how many pages it has mapped. */
function remembering(answers: readonly Answer[], overrides: Overrides = {}) {
  const { pagination = TOKEN, where, ...observed } = overrides;
  const map = mapperWith({ where, invalidItems: 'drop' });
  const left = [...answers];
  const counts = { mapped: 0 };
  const load = loaderOver(async () => left.shift() ?? { text: '' }, {
    ...{ list: listWith({ pagination }), resource: 'things', ...observed },
    map: (page) => {
      counts.mapped += 1;
      return map(page);
    },
  });
  return { read: (token = 'anybody') => load(callerWith(token), never), counts };
}

const page = (things: unknown, next = ''): Answer => ({ text: JSON.stringify({ things, next }) });
const thing = (id: number) => ({ id, name: `Thing ${id}` });

describe('a loader that gets equal replies', () => {
  it('maps the same bytes once, for all callers, and reports each list as loaded', async () => {
    const answer = page([thing(1), { id: 2 }, thing(3)]);
    const told: unknown[] = [];
    const { read, counts } = remembering([answer, answer, answer, { text: ` ${answer.text}` }], {
      where: 'id != `3`',
      events: { listLoaded: (loaded) => told.push(loaded) },
    });
    const first = await read('one');
    await read('another');
    const second = await read('another');
    expect(counts.mapped).to.equal(1);
    expect(second.snapshot.bytes).to.equal(first.snapshot.bytes);
    expect(second).to.include({ pages: 1, excluded: 1, dropped: 1 });
    expect(second.snapshot).to.include({ etag: first.snapshot.etag, count: 1 });
    expect((await read()).snapshot.etag).to.equal(first.snapshot.etag);
    expect(counts.mapped).to.equal(2);
    expect(told).to.deep.equal(Array(4).fill(told[0]));
    expect(told[0]).to.include({ pages: 1, items: 1, received: 3, excluded: 1, dropped: 1 });
  });

  it('does not go by a body that does not say whether it is all', async () => {
    const answer = (total: string) => ({ ...page([thing(1)]), headers: { total, etag: '"1"' } });
    const { read } = remembering([answer('1'), answer('2'), page([thing(2)])], { pagination: HEADER_TOTAL });
    const first = await read();
    expect(first.snapshot.count).to.equal(1);
    expect(first).not.to.have.property('upstreamEtag');
    // The same body again, and now there is more.
    expect(await errorOf(read())).to.include({ code: 'upstream_invalid' });
  });

  it('goes by headers that say more than those of an equal body', async () => {
    const { read } = remembering([page([thing(1)]), { ...page([thing(1)]), headers: { 'x-total-count': '2' } }]);
    expect((await read()).snapshot.count).to.equal(1);
    expect(await errorOf(read())).to.include({ code: 'upstream_invalid' });
  });

  it('follows a link in a header, though the body is that of a list without one', async () => {
    const linked = { ...page([thing(1)]), headers: { link: '</things?more>; rel="next"' } };
    const { read } = remembering([page([thing(1)]), linked, page([thing(2)])], { pagination: HEADER_LINK });
    expect((await read()).snapshot.count).to.equal(1);
    expect((await read()).snapshot.count).to.equal(2);
  });

  it('keeps the last 16 replies, and none above 256 KiB', async () => {
    const answers = Array.from({ length: 17 }, (_, id) => page([thing(id)]));
    const long = page([{ id: 1, name: 'x'.repeat(262_144) }]);
    const { read, counts } = remembering([...answers, ...answers.slice(1), ...answers.slice(0, 1), long, long]);
    for (let reads = 0; reads < 33; reads += 1) await read();
    expect(counts.mapped).to.equal(17);
    await read();
    expect(counts.mapped).to.equal(18);
    await read();
    await read();
    expect(counts.mapped).to.equal(20);
  });
});
