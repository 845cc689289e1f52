import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createPageReader } from '../../src/catalogue/page-reader.ts';
import { createPageTurns } from '../../src/catalogue/page-turns.ts';
import { GatewayError } from '../../src/kernel/errors.ts';
import { createMapper } from '../../src/mapping/mapper.ts';
import { createPageParser } from '../../src/mapping/page.ts';
import { callerWith } from '../support/caller.ts';
import { startProcess } from '../support/process.ts';
import { longestTurn, processorMsOf } from '../support/processor-time.ts';
import { CORPUS, MANY_ITEMS } from './corpus.ts';
import { corpusLoaders } from './corpus-loader.ts';

const never = new AbortController().signal;
const COSTLY = fileURLToPath(new URL('./costly-loads.ts', import.meta.url));

describe('the longest turn of the event loop, by the time of the processor', () => {
  /** What it takes to parse a large page of ordinary items: what differs between machines is in it. */
  let unit = 0;
  before(() => {
    const [text] = CORPUS.get(MANY_ITEMS) ?? expect.fail('there is no such page');
    unit = Math.max(...[1, 2, 3, 4, 5].map(() => processorMsOf(() => JSON.parse(text))));
  });

  for (const [what, texts] of CORPUS) {
    it(`is short while a list is loaded whose pages hold ${what}`, async () => {
      const bodies = texts.map((text) => Buffer.from(text));
      const load = corpusLoaders()((target) => (target.includes('token') ? bodies[1] : bodies[0]) ?? Buffer.of());
      const took = await longestTurn(() => load(callerWith(), never).catch((error) => error));
      // To parse a page is one step. It takes up to four of these where no two keys are the same, more where garbage is
      // collected within it; what has no bound takes fifteen and more.
      expect(took).to.be.lessThan(10 * unit);
    });
  }
});

describe('a page', () => {
  const items = (count: number, id = (index: number): unknown => `id-${index}`) =>
    Array.from({ length: count }, (_, index) => ({ id: id(index), name: 'n' }));

  /** What a page comes to, and which of its items were mapped in one step. */
  async function read(body: unknown, first = true) {
    const steps: (readonly [number, number])[] = [];
    const map = createMapper({
      fields: {
        id: { from: 'id', default: '', values: {}, format: 'none' },
        name: { from: 'name', default: '', values: {}, format: 'none' },
      },
      required: ['id', 'name'],
      invalidItems: 'fail',
    });
    const readPage = createPageReader({
      list: {
        baseUrl: 'https://platform.example',
        path: '/things',
        query: {},
        pagination: {
          kind: 'token',
          sizeParam: null,
          size: 1,
          tokenParam: 'token',
          next: (page) => (page as { next?: unknown }).next,
        },
        maxItems: 1000,
        maxPages: 10,
        maxNextBytes: 100,
      },
      maxPageValues: 250_000,
      parse: createPageParser('things'),
      map(page, from, to) {
        steps.push([from, to]);
        return map(page, from, to);
      },
      turns: createPageTurns(1_000_000),
    });
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const page = await readPage({ body: Buffer.from(text), headers: {}, first, signal: never, own: (work) => work() });
    return { page, steps };
  }

  it('is mapped in steps of 200 items, which stay in order', async () => {
    const { page, steps } = await read({ things: items(450) });
    expect(steps).to.deep.equal([
      [0, 200],
      [200, 400],
      [400, 450],
    ]);
    if (page instanceof GatewayError) return expect.fail(page.message);
    const text = `[${page.items.map(({ bytes }) => bytes.toString()).join(',')}]`;
    expect(JSON.parse(text)).to.deep.equal(items(450));
  });

  it('is rejected where it is none, and given as an error where a list cannot be made of it', async () => {
    const reasonOf = (error: GatewayError) => error.reason;
    expect(await read('no JSON').catch(reasonOf)).to.equal('the page is not JSON');
    expect(await read({}).catch(reasonOf)).to.equal('the page holds no list of items where settings say');
    const { page } = await read({ things: items(450, (index) => (index === 300 ? {} : index)) });
    expect(page).to.include({ code: 'upstream_invalid', reason: 'field id of item 300 is an object or a list' });
    expect((await read({ things: items(1001) })).page).to.include({ reason: 'the list has more items than maxItems' });
  });

  it('has a digest of each item, but for a first page that is the whole list', async () => {
    const digestsOf = async (body: object, first: boolean) => {
      const { page } = await read(body, first);
      return page instanceof GatewayError ? expect.fail(page.message) : page.digests;
    };
    expect(await digestsOf({ things: items(2) }, true)).to.equal(undefined);
    expect(new Set(await digestsOf({ things: items(201), next: 'more' }, true)).size).to.equal(201);
    expect(new Set(await digestsOf({ things: items(2) }, false)).size).to.equal(2);
  });

  it('has digests that tell numbers apart that only their source text tells apart', async () => {
    const digestOf = async (id: string) => {
      const { page } = await read(`{"things":[{"id":${id},"name":"n"}],"next":"more"}`);
      return page instanceof GatewayError ? expect.fail(page.message) : page.digests?.[0];
    };
    expect(await digestOf('1152921504606846976')).to.not.equal(await digestOf('1152921504606846977'));
    expect(await digestOf('1152921504606846977')).to.equal(await digestOf('1152921504606846977'));
  });
});

describe('pages that take as much memory as they may', () => {
  it('are not kept while others are waited for: 32 lists of them load within a heap of 256 MB', async () => {
    const { stdout, stderr } = await startProcess(process.execPath, ['--max-old-space-size=256', COSTLY]).ended;
    expect(stderr).to.equal('');
    expect(JSON.parse(stdout)).to.deep.equal({ whole: 32 });
  });
});
