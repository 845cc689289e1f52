import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import fc from 'fast-check';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { compileList, createPageReader, SMALL_BYTES } from '../../../../src/core/reads/catalogue/page-reader.ts';
import { createPageWorker, type PageReading } from '../../../../src/core/reads/catalogue/page-worker.ts';
import { turnsDuring } from '../../../support/a-while.ts';
import { onCleanup } from '../../../support/cleanup.ts';
import { SEEDED } from '../../../support/seed.ts';
import { errorOf } from '../snapshots/departures.ts';
import { listSettings } from './loader-over.ts';

/** One list, and the reported processing times. */
function openWorker() {
  const pageWorker = createPageWorker(2_097_152);
  onCleanup(pageWorker.close);
  const readPage = pageWorker.open('things', listSettings());
  const spent: number[] = [];
  const read = (body: string | Buffer, rest: Partial<PageReading> = {}) =>
    readPage({
      body: Buffer.from(body),
      headers: { etag: '"a"' },
      first: true,
      signal: new AbortController().signal,
      spend: (ms) => spent.push(ms),
      ...rest,
    });
  return { pageWorker, read, spent };
}

const FILLER = 'x'.repeat(SMALL_BYTES);
const large = (things: unknown, rest: object = {}) => JSON.stringify({ things, beside: FILLER, ...rest });
const thing = (id: unknown) => ({ id, name: 'n' });
const SLOW = large(Array.from({ length: 30_000 }, (_, index) => thing(`id-${index}`)));

/** As the test can compare it. */
const plain = (page: object) =>
  page instanceof GatewayError ? { code: page.code, reason: page.reason, detail: page.detail } : page;

const outcomeOf = (made: Promise<object>) =>
  made.then(
    (page) => ({ page: plain(page) }),
    (error) => ({ thrown: plain(error) }),
  );

describe('pages', () => {
  it(`give the same result in the worker as on the event loop ${SEEDED}`, async () => {
    const { read, spent } = openWorker();
    const readHere = createPageReader(compileList(listSettings()));
    const item = fc.oneof(
      fc.record({ id: fc.oneof(fc.string(), fc.integer()), name: fc.string({ minLength: 1 }) }),
      fc.jsonValue(),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          { weight: 9, arbitrary: fc.array(item).map((things) => large(things)) },
          { weight: 3, arbitrary: fc.array(item).map((things) => large(things, { next: 'more' })) },
          { weight: 1, arbitrary: fc.jsonValue().map((things) => large(things)) },
          { weight: 1, arbitrary: fc.constant(`no JSON${FILLER}`) },
        ),
        fc.boolean(),
        async (text, first) => {
          const page = { body: Buffer.from(text), headers: { etag: '"a"' }, first };
          const there = outcomeOf(read(text, { first }));
          expect(await there).to.deep.equal(await outcomeOf((async () => readHere(page))()));
        },
      ),
    );
    expect(spent.length).to.be.above(50);
    expect(Math.min(...spent)).to.be.above(0);
  });

  it('are read on the event loop when small, for at most 5 ms per turn', async () => {
    const { read } = openWorker();
    const text = JSON.stringify({ things: Array.from({ length: 1500 }, (_, index) => thing(`id-${index}`)) });
    expect(text.length).to.be.below(SMALL_BYTES);
    const pages = Promise.all(Array.from({ length: 300 }, () => read(text)));
    expect(await turnsDuring(pages)).to.be.above(10);
    expect((await pages).map((page) => (page as { count: number }).count)).to.deep.equal(Array(300).fill(1500));
  });

  it('keep their bytes', async () => {
    const { read } = openWorker();
    const body = Buffer.from(large([thing('a')]));
    const before = Buffer.from(body);
    await read('', { body });
    expect(body.equals(before)).to.equal(true);
  });

  it('are dropped when their readers leave, and those behind them are read', async () => {
    const { read } = openWorker();
    const controller = new AbortController();
    const { signal } = controller;
    const first = read(SLOW);
    const gone = [read(SLOW, { signal }), read(SLOW, { signal })].map(errorOf);
    const behind = read(large([thing('behind')]));
    const reason = new Error('gone');
    controller.abort(reason);
    expect(await Promise.all(gone)).to.deep.equal([reason, reason]);
    expect(getEventListeners(signal, 'abort')).to.have.length(0);
    expect(await first).to.have.property('count', 30_000);
    expect(await behind).to.have.property('count', 1);
    // The one that is being read, too.
    const running = new AbortController();
    const left = errorOf(read(SLOW, { signal: running.signal }));
    running.abort(reason);
    expect(await left).to.equal(reason);
    expect(await read(large([thing('after')]))).to.have.property('count', 1);
    for (const text of ['{"things":[]}', SLOW]) {
      expect(await errorOf(read(text, { signal: running.signal }))).to.equal(reason);
    }
  });

  it('are rejected once the worker is closed, which starts no thread again', async () => {
    const { pageWorker, read } = openWorker();
    const { signal } = new AbortController();
    const pages = Promise.all([read(SLOW, { signal }), read(SLOW, { signal })].map(errorOf));
    await pageWorker.close();
    for (const error of [...(await pages), await errorOf(read(SLOW))]) {
      expect(error).to.include({ code: 'draining', reason: 'the gateway is closing' });
    }
    expect(getEventListeners(signal, 'abort')).to.have.length(0);
    expect(await read('{"things":[]}')).to.have.property('count', 0);
  });

  it('fail alone when a bug ends the thread', async () => {
    const { pageWorker, read } = openWorker();
    await read(large([]));
    // The thread that has started knows nothing of it.
    const readLate = pageWorker.open('late', listSettings());
    const signal = new AbortController().signal;
    const page = { body: Buffer.from(large([thing('a')])), headers: {}, first: true, signal, spend: () => {} };
    const late = readLate(page);
    const behind = read(large([thing('behind')]));
    expect(await errorOf(late)).to.be.instanceOf(TypeError);
    expect(await behind).to.have.property('count', 1);
    expect(await readLate(page)).to.have.property('count', 1);
  });
});
