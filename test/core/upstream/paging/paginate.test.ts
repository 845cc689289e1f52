import { expect } from 'chai';
import fc from 'fast-check';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { digestsOf } from '../../../../src/core/upstream/paging/list-read.ts';
import { atDepth } from '../../../support/depth.ts';
import { rejectionBy } from '../../../support/thrown.ts';
import { type Item, itemsUpTo, KINDS, type Kind, leadTo, type PlatformOptions, readAll, simulate } from './platform.ts';

type Mischief = (options: PlatformOptions, at: number, random: number) => Partial<PlatformOptions>;

const LEADING: readonly Kind[] = ['token', 'link', 'link in body'];
const TOTALLED: readonly Kind[] = ['offset with total', 'page with total'];

/** What a platform may do wrong in one request, and with which kinds of pagination that can be noticed at all. */
const MISCHIEF: Record<string, { kinds: readonly Kind[]; apply: Mischief }> = {
  // With a token, links or bare page numbers, nothing tells of an item that the platform leaves out; nor by bare
  // offsets when it was the only one of its page, since an empty page is the end.
  'an item is left out': {
    kinds: [...TOTALLED, 'offset'],
    apply: (_options, at, random) => ({
      mangle: (page, request) => {
        if (request !== at || page.items.length < 2) return page;
        return { ...page, items: page.items.toSpliced(random % page.items.length, 1) };
      },
    }),
  },
  'the answer before comes again': {
    kinds: KINDS,
    apply: (_options, at) => ({ mangle: (page, request, previous) => (request === at && previous ? previous : page) }),
  },
  // A total that is too low where the first page is short by that much is the platform's word, and no more.
  'the total is too high': {
    kinds: TOTALLED,
    apply: ({ items }, at) => ({
      mangle: (page, request) =>
        request === at
          ? { ...page, body: { ...page.body, total: items.length + 1 }, headers: { 'x-total': `${items.length + 1}` } }
          : page,
    }),
  },
  // Without a total, an item that goes shifts another one past the reader.
  'an item goes while the list is read': {
    kinds: TOTALLED,
    apply: ({ items }, at, random) => ({
      before: (request) => {
        if (request === at && request > 0) items.splice(random % items.length, 1);
      },
    }),
  },
  'an item comes first while the list is read': {
    kinds: KINDS,
    apply: ({ items }, at) => ({
      before: (request) => {
        if (request === at && request > 0) items.unshift({ id: -1, name: 'new' });
      },
    }),
  },
  'a page leads back': {
    kinds: LEADING,
    apply: ({ kind, size, cap = 1000 }, at, random) => ({
      mangle: (page, request) => {
        const step = Math.min(size, cap);
        const lead = leadTo(kind, (random % (at + 1)) * step, step);
        return request === at ? { ...page, body: { ...page.body, ...lead.body }, headers: lead.headers } : page;
      },
    }),
  },
};

const shapes = {
  count: fc.nat({ max: 60 }),
  size: fc.integer({ min: 1, max: 20 }),
  cap: fc.integer({ min: 1, max: 20 }),
  concurrency: fc.integer({ min: 1, max: 5 }),
  posted: fc.boolean(),
};

describe('paginate', () => {
  for (const kind of KINDS) {
    it(`returns exactly the list, in order, by ${kind}`, async () => {
      const property = fc.asyncProperty(fc.record(shapes), async ({ count, ...rest }) => {
        const platform = simulate({ kind, items: itemsUpTo(count), ...rest });
        expect(await readAll(platform)).to.deep.equal(itemsUpTo(count));
      });
      await fc.assert(property, { numRuns: atDepth(20, 400) });
    });
  }

  for (const [name, { kinds, apply }] of Object.entries(MISCHIEF)) {
    for (const kind of kinds) {
      it(`returns exactly the list or upstream_invalid when ${name}, by ${kind}`, async () => {
        const mischief = fc.record({ ...shapes, at: fc.nat({ max: 6 }), random: fc.nat() });
        const property = fc.asyncProperty(mischief, async ({ count, at, random, ...rest }) => {
          const options = { kind, items: itemsUpTo(count), ...rest };
          const platform = simulate({ ...options, ...apply(options, at, random) });
          const isExact = async () => expect(await readAll(platform)).to.deep.equal(itemsUpTo(count));
          const { code } = (await rejectionBy(GatewayError, isExact())) ?? {};
          expect(code).to.be.oneOf([undefined, 'upstream_invalid']);
        });
        await fc.assert(property, { numRuns: atDepth(30, 600) });
      });

      it(`notices that ${name}, by ${kind}`, async () => {
        const options = { kind, items: itemsUpTo(50), size: 10 };
        const error = await readAll(simulate({ ...options, ...apply(options, 2, 3) })).catch((reason) => reason);
        expect(error).to.be.instanceOf(GatewayError).with.property('code', 'upstream_invalid');
      });
    }
  }

  it('rejects an item of any earlier page', async () => {
    const items = itemsUpTo(50);
    const platform = simulate({
      ...{ kind: 'token', items, size: 10 },
      mangle: (page, request) => (request === 3 ? { ...page, items: page.items.with(0, items[15] as Item) } : page),
    });
    const error = await readAll(platform).catch((reason) => reason);
    expect(error).to.include({ code: 'upstream_invalid', reason: 'a page repeats an item of an earlier page' });
  });

  it('accepts equal items on one page, and rejects one that nests too deeply to be compared', async () => {
    const [one, other] = itemsUpTo(2) as [Item, Item];
    const platform = simulate({ kind: 'page with total', items: [one, one, other], size: 2 });
    expect(await readAll(platform)).to.have.length(3);
    // What JSON.stringify does in Node 22.
    const nested = { toJSON: () => JSON.parse('['.repeat(99)) };
    expect(() => digestsOf([nested]))
      .to.throw()
      .that.includes({ code: 'upstream_invalid', reason: 'an item nests too deeply' });
  });
});

const TOO_MANY_ITEMS = { code: 'upstream_invalid', reason: 'the list has more items than maxItems: 24' };
const tooManyPages = (bound: number) => ({
  code: 'upstream_invalid',
  reason: `the list has more pages than maxPages: ${bound}`,
});

describe('the bounds of a read', () => {
  for (const kind of KINDS) {
    const platformOf = () => simulate({ kind, items: itemsUpTo(25), size: 10 });
    /** Without a total, an empty page more is asked for. The test of the end is none of the pages. */
    const pages = { offset: 4, page: 4 }[kind as string] ?? 3;

    it(`allow exactly so many items and pages, and request no page beyond, by ${kind}`, async () => {
      expect(await readAll(platformOf(), { maxItems: 25, maxPages: pages })).to.have.length(25);
      const long = await readAll(platformOf(), { maxItems: 24 }).catch((reason) => reason);
      expect(long).to.include(TOO_MANY_ITEMS);
      const platform = platformOf();
      const error = await readAll(platform, { maxPages: pages - 1 }).catch((reason) => reason);
      expect(error).to.include(tooManyPages(pages - 1));
      expect(platform.targets.length).to.be.lessThan(pages);
    });
  }
});
