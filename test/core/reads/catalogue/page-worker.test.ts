import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import fc from 'fast-check';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import {
  compileList,
  createPageReader,
  type ListSettings,
  SMALL_BYTES,
} from '../../../../src/core/reads/catalogue/page-reader.ts';
import { createPageWorker, type PageReading } from '../../../../src/core/reads/catalogue/page-worker.ts';
import { onCleanup } from '../../../support/cleanup.ts';
import { SEEDED } from '../../../support/seed.ts';

const field = (from: string) => ({ from, default: '', values: {}, format: 'none' }) as const;

function settingsOf(overrides: Partial<ListSettings> = {}): ListSettings {
  return {
    resource: 'things',
    baseUrl: 'https://platform.example',
    path: '/things',
    query: {},
    pagination: { kind: 'token', sizeParam: null, size: 1, tokenParam: 'token', next: 'next' },
    maxItems: 100_000,
    maxPages: 10,
    maxNextBytes: 4096,
    maxPageValues: 250_000,
    items: 'things',
    fields: { id: field('id'), name: field('name') },
    required: ['id', 'name'],
    invalidItems: 'drop',
    ...overrides,
  };
}

/** One list, and the reported processing times. */
function openWorker(settings = settingsOf()) {
  const pageWorker = createPageWorker(2_097_152);
  onCleanup(pageWorker.close);
  const readPage = pageWorker.open('things', settings);
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

/** As the test can compare it. */
const plain = (page: object) =>
  page instanceof GatewayError ? { code: page.code, reason: page.reason, detail: page.detail } : page;

describe('pages', () => {
  it(`give the same result in the worker as on the event loop ${SEEDED}`, async () => {
    const settings = settingsOf();
    const { read, spent } = openWorker(settings);
    const readHere = createPageReader(compileList(settings));
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
          let here: object;
          try {
            here = { page: plain(readHere(page)) };
          } catch (error) {
            here = { thrown: plain(error as object) };
          }
          const there = await read(text, { first }).then(
            (made) => ({ page: plain(made) }),
            (error) => ({ thrown: plain(error) }),
          );
          expect(there).to.deep.equal(here);
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
    let turns = 0;
    let done = false;
    const others = () => {
      turns += 1;
      if (!done) setImmediate(others);
    };
    setImmediate(others);
    const pages = await Promise.all(Array.from({ length: 300 }, () => read(text)));
    done = true;
    expect(pages.map((page) => (page as { count: number }).count)).to.deep.equal(Array(300).fill(1500));
    expect(turns).to.be.above(10);
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
    const slow = large(Array.from({ length: 30_000 }, (_, index) => thing(`id-${index}`)));
    const controller = new AbortController();
    const { signal } = controller;
    const first = read(slow);
    const gone = [read(slow, { signal }), read(slow, { signal })];
    const behind = read(large([thing('behind')]));
    const reason = new Error('gone');
    controller.abort(reason);
    expect(await Promise.all(gone.map((page) => page.catch((error) => error)))).to.deep.equal([reason, reason]);
    expect(getEventListeners(signal, 'abort')).to.have.length(0);
    expect(await first).to.have.property('count', 30_000);
    expect(await behind).to.have.property('count', 1);
    // The one that is being read, too.
    const running = new AbortController();
    const left = read(slow, { signal: running.signal });
    running.abort(reason);
    expect(await left.catch((error: unknown) => error)).to.equal(reason);
    expect(await read(large([thing('after')]))).to.have.property('count', 1);
    for (const text of ['{"things":[]}', slow]) {
      expect(await read(text, { signal: running.signal }).catch((error: unknown) => error)).to.equal(reason);
    }
  });

  it('are rejected once the worker is closed, which starts no thread again', async () => {
    const { pageWorker, read } = openWorker();
    const slow = large(Array.from({ length: 30_000 }, (_, index) => thing(`id-${index}`)));
    const controller = new AbortController();
    const pages = [read(slow, { signal: controller.signal }), read(slow, { signal: controller.signal })];
    const outcomes = Promise.all(pages.map((page) => page.catch((error: unknown) => error)));
    await pageWorker.close();
    for (const error of [...(await outcomes), await read(slow).catch((late: unknown) => late)]) {
      expect(error).to.include({ code: 'draining', reason: 'the gateway is closing' });
    }
    expect(getEventListeners(controller.signal, 'abort')).to.have.length(0);
    expect(await read('{"things":[]}')).to.have.property('count', 0);
  });

  it('fail alone when a bug ends the thread', async () => {
    const { pageWorker, read } = openWorker();
    await read(large([]));
    // The thread that has started knows nothing of it.
    const readLate = pageWorker.open('late', settingsOf());
    const signal = new AbortController().signal;
    const page = { body: Buffer.from(large([thing('a')])), headers: {}, first: true, signal, spend: () => {} };
    const late = readLate(page);
    const behind = read(large([thing('behind')]));
    expect(await late.catch((error: unknown) => error)).to.be.instanceOf(TypeError);
    expect(await behind).to.have.property('count', 1);
    expect(await readLate(page)).to.have.property('count', 1);
  });
});
