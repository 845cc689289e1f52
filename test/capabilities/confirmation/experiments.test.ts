import { expect } from 'chai';
import { createConfirmations } from '../../../src/capabilities/confirmation/confirmation.ts';
import type { ListRequest } from '../../../src/core/upstream/paging/list-read.ts';
import type { Pagination } from '../../../src/core/upstream/paging/page-address.ts';
import { itemsUpTo, readAll, simulate } from '../../core/upstream/paging/platform.ts';
import { type Query, type Reply, readList } from '../../core/upstream/paging/read-list.ts';

/** Reads the list of a platform that replies so, and confirms it. */
const read = (
  pagination: Pagination,
  reply: (query: Query) => Reply,
  more: Partial<ListRequest> = {},
  open = createConfirmations(Date.now),
) => readList(pagination, reply, more, open('list', ''));

const member = (name: string) => (body: unknown) => Object(body)[name];
const OFF = { ignoreSigns: ['fullPage'] } as const;

describe('a list of one page', () => {
  const NONE = { kind: 'none' } as const;

  for (const [more, result] of [
    [30, /with the token in its reply returned 30 items/],
    [0, 30],
  ] as const) {
    it(`whose token leads to ${more} items is ${more > 0 ? 'an error' : 'whole'}`, async () => {
      const outcome = await read(NONE, (query) =>
        query('cursor') === undefined ? { to: 30, statements: { endCursor: 'c30' } } : { from: 30, to: 30 + more },
      );
      if (typeof result === 'number') expect(outcome.result).to.equal(result);
      else expect(outcome.result).to.match(result);
    });
  }

  const SIZES = 'limit per_page page_size pageSize size $top max_results first page[size] hitsPerPage'.split(' ');
  const PLACES = 'offset skip $skip start startAt start_index page pageNumber page[number] p'.split(' ');
  /** Cuts its list of 151 items at a default size, and reads one parameter of each kind. */
  const cut = (defaultSize: number, size: string, place: string) => (query: Query) => {
    const asked = Math.min(query(size) ?? defaultSize, 100);
    const from = /^p/i.test(place) ? ((query(place) ?? 1) - 1) * asked : (query(place) ?? 0);
    return { from, to: Math.min(151, from + asked) };
  };

  it('is an error where the platform pages by usual names, whatever its default size is', async () => {
    for (const [index, size] of SIZES.entries()) {
      for (const defaultSize of [2, 10, 42, 97]) {
        const { result, targets } = await read(NONE, cut(defaultSize, size, PLACES[index] ?? 'page'));
        expect(result, size).to.contain(`the list has ${defaultSize} items`).and.to.contain('pagination.kind');
        expect(result).to.match(/pagination\.ignoreSigns: \[fullPage\][^:]*$/);
        expect(targets.length).to.be.lessThan(8);
      }
      expect((await read({ ...NONE, ...OFF }, cut(42, size, 'page'))).result).to.equal(42);
    }
  });

  it('is an error where pages are counted from 0, only a larger size shows more, or only a size is understood', async () => {
    const fromZero = (query: Query): Reply => {
      const size = query('limit') ?? 100;
      const from = (query('page') ?? 0) * size;
      return { from, to: Math.min(151, from + size) };
    };
    expect((await read(NONE, fromZero)).result).to.contain('the list has 100 items');
    expect((await read(NONE, (query) => ({ to: Math.min(query('limit') ?? 30, 100) }))).result).to.contain('30 items');
    expect((await read(NONE, (query) => ({ to: Math.min(query('limit') ?? 30, 30) }))).result).to.contain(
      'shows no more',
    );
  });

  it('is an error where the place is a page number under the usual name of an offset', async () => {
    for (const cap of [2, 4, 6]) {
      const paged = (query: Query): Reply => {
        const size = Math.min(query('limit') ?? 10, cap);
        const from = (query('skip') ?? 0) * size;
        return { from, to: Math.min(21, from + size) };
      };
      expect((await read(NONE, paged)).result).to.contain(`the list has ${cap} items, but a request`);
    }
  });

  it('is an error where the platform caps the size below what settings send', async () => {
    const query = { per_page: '500' };
    expect((await read(NONE, cut(20, 'per_page', 'page'), { query })).result).to.contain('the list has 100 items');
  });

  it('is whole where the platform ignores such parameters, refuses them, or has nothing behind it', async () => {
    for (const count of [2, 3, 42, 120, 1000]) {
      expect(await read(NONE, () => ({ to: count })))
        .to.include({ result: count })
        .and.to.have.property('targets')
        .with.length(3);
      for (const status of [400, 404, 414, 422]) {
        const refusing = (query: Query) =>
          [...SIZES, ...PLACES].some((name) => query(name) !== undefined) ? status : { to: count };
        expect((await read(NONE, refusing)).result).to.equal(count);
      }
      const paged = (query: Query): Reply => {
        const from = query('offset') ?? 0;
        return { from, to: Math.min(count, from + (query('limit') ?? 2000)) };
      };
      expect((await read(NONE, paged)).result).to.equal(count);
      const flagged = (query: Query): Reply => {
        const to = Math.min(count, query('limit') ?? 2000);
        return { to, statements: to < count ? { has_more: true } : {} };
      };
      expect((await read(NONE, flagged)).result).to.equal(count);
    }
  });

  it('is an error where the platform pages, and refuses names that it does not know in any way', async () => {
    for (const status of [200, 400, 403, 404, 422]) {
      const names = ['limit', 'offset', 'page', 'per_page', 'size', '$top', 'cursor'];
      const strict = (query: Query): Reply =>
        names.slice(2).some((name) => query(name) !== undefined)
          ? status
          : { from: query('offset') ?? 0, to: Math.min(25, (query('offset') ?? 0) + (query('limit') ?? 10)) };
      expect((await read(NONE, strict)).result, `${status}`).to.contain('under limit and offset returned 10 items');
    }
  });

  it('is not an error where the platform fails, or has other items by now', async () => {
    const failing = (query: Query) => (query('limit') === undefined ? { to: 42 } : 503);
    expect((await read(NONE, failing)).result).to.equal(42);
    let requests = 0;
    const changing = (): Reply => {
      requests += 1;
      return { from: requests, to: requests + 5 };
    };
    expect((await read(NONE, changing)).result).to.equal(5);
  });

  it('is not requested again if it shows its end, is shorter than two items, or needs a POST', async () => {
    const single: readonly [Reply, Partial<ListRequest>?][] = [
      [{ to: 0 }],
      [{ to: 1 }],
      [{ to: 20, statements: { total: 20 } }],
      [{ to: 20, statements: { has_more: false } }],
      [{ to: 20, statements: { next: null } }],
      [{ to: 20 }, { post: { body: undefined, isRepeatable: false } }],
    ];
    for (const [reply, more] of single) {
      expect((await read(NONE, () => reply, more)).targets, JSON.stringify(reply)).to.have.length(1);
    }
    // It may be that of the page.
    expect((await read(NONE, () => ({ to: 20, statements: { count: 20 } }))).targets).to.have.length(3);
  });
});

describe('a list by link or token whose only page leads to no other', () => {
  const LINK = { kind: 'link', sizeParam: 'per_page', size: 500, next: member('following') } as const;

  it('is an error if a shorter page leads to none either', async () => {
    const capped = (query: Query): Reply => ({ to: Math.min(query('per_page') ?? 20, 100) });
    expect((await read(LINK, capped)).result)
      .to.contain('100 items and leads to no other')
      .and.to.contain('pagination.kind');
  });

  it('is whole if a page of a size that the platform accepts leads on', async () => {
    for (const [sizes, result] of [
      [[10, 100], 100],
      [[25, 50, 100], 100],
      [[100], 'nothing shows that they are all'],
    ] as const) {
      const stepped = (query: Query): Reply => {
        const size = query('per_page') ?? 10;
        if (!(sizes as readonly number[]).includes(size)) return 400;
        return { to: size, statements: size < 100 ? { following: '/list?page=2' } : {} };
      };
      const outcome = await read({ ...LINK, size: 100 }, stepped);
      if (typeof result === 'number') expect(outcome.result).to.equal(result);
      else expect(outcome.result).to.contain(result);
    }
  });

  it('is whole if a shorter page leads on', async () => {
    const leading = (query: Query): Reply => {
      const to = Math.min(query('per_page') ?? 20, 60);
      return { to, statements: to < 60 ? { following: '/list?page=2' } : {} };
    };
    expect(await read(LINK, leading))
      .to.include({ result: 60 })
      .and.to.have.property('targets')
      .with.length(2);
  });
});

describe('a list whose pages are filtered after they were cut', () => {
  const hidden = (from: number, to: number) => (query: Query) => {
    const start = query('offset') ?? ((query('page') ?? 1) - 1) * 100;
    return start >= from && start < to ? { from: start, to: start } : { from: start, to: Math.min(start + 100, 900) };
  };
  for (const pagination of [
    { kind: 'offset', sizeParam: 'limit', size: 100, offsetParam: 'offset', concurrency: 1 },
    { kind: 'page', sizeParam: 'limit', size: 100, pageParam: 'page', firstPage: 1, concurrency: 1 },
  ] as const) {
    it(`is an error by ${pagination.kind}, though some pages in a row are empty`, async () => {
      for (const to of [200, 300]) {
        const { result } = await read(pagination, hidden(100, to));
        expect(result).to.contain('seems to end after 100 items').and.to.contain('others').and.to.contain('pagination');
      }
      expect((await read(pagination, hidden(900, 1000))).result).to.equal(900);
    });
  }
});

describe('a total that is capped', () => {
  const TOTAL = {
    kind: 'offset',
    sizeParam: 'limit',
    size: 100,
    offsetParam: 'offset',
    concurrency: 2,
    total: member('total'),
  } as const;
  const list = (count: number, cap: number) => (query: Query) => {
    const from = query('offset') ?? 0;
    return { from, to: Math.min(count, from + 100), statements: { total: Math.min(count, cap) } };
  };

  it('is an error if more items are behind it', async () => {
    const { result } = await read(TOTAL, list(523, 500));
    expect(result).to.contain('500 items').and.to.contain('offset 500').and.to.contain('pagination.total');
  });

  it('is confirmed by one request if there are none, and only if its last page is full', async () => {
    expect(await read(TOTAL, list(500, 1000)))
      .to.include({ result: 500 })
      .and.to.have.property('targets')
      .with.length.lessThan(9);
    expect((await read(TOTAL, list(430, 1000))).targets).to.have.length(5);
  });

  it('is an error if it is in a header and counts the page, as X-Result-Count of MISP does', async () => {
    const { total: _, ...untotalled } = { ...TOTAL, totalHeader: 'X-Result-Count', size: 20 } as const;
    const counting = (isPage: boolean) => (query: Query) => {
      const from = query('offset') ?? 0;
      const to = Math.min(42, from + 20, from + (query('limit') ?? 20));
      return { from, to, headers: { 'x-result-count': String(isPage ? to - from : 42) } };
    };
    expect((await read(untotalled, counting(true))).result).to.contain('seems to end after 20 items');
    expect((await read(untotalled, counting(false))).result).to.equal(42);
  });

  it('is an error where pages are counted from 0, so that the cap is reached one page later', async () => {
    const pagination = { ...TOTAL, kind: 'page', pageParam: 'page', firstPage: 1 } as const;
    const fromZero = (query: Query): Reply => {
      const from = (query('page') ?? 0) * 100;
      return { from, to: Math.min(600, from + 100), statements: { total: 500 } };
    };
    expect((await read(pagination, fromZero)).result)
      .to.contain('the first page without page=1')
      .and.to.contain('pagination.firstPage');
  });

  it('is an error if it is an estimate, too', async () => {
    const pages = { ...TOTAL, size: 20 };
    const estimated = (query: Query): Reply => {
      const from = query('offset') ?? 0;
      return { from, to: Math.min(66, from + 20), statements: { total: 60 } };
    };
    expect((await read(pages, estimated)).result)
      .to.contain('60 items')
      .and.to.contain('estimates it');
  });

  it('is an error if it is a round thousand and what is behind it is refused, unless settings expect that', async () => {
    const closed = (query: Query) => ((query('offset') ?? 0) >= 1000 ? 400 : list(1500, 1000)(query));
    expect((await read(TOTAL, closed)).result)
      .to.contain('the total is 1000')
      .and.to.contain('beyondEnd: refused');
    expect((await read({ ...TOTAL, beyondEnd: 'refused' }, closed)).result).to.equal(1000);
    const whole = (query: Query) => ((query('offset') ?? 0) >= 900 ? 400 : list(900, 1000)(query));
    expect((await read(TOTAL, whole)).result).to.equal(900);
    const { total: _, ...untotalled } = { ...TOTAL, beyondEnd: 'refused' } as const;
    expect((await read(untotalled, closed)).result).to.contain('the number of items is 1000');
    expect((await read(untotalled, whole)).result).to.equal(900);
  });
});

const SIZED = { sizeParam: 'limit', size: 100, concurrency: 1 } as const;
const PAGE = { kind: 'page', ...SIZED, pageParam: 'page', firstPage: 1 } as const;

describe('a total that settings name and that counts the items of the page', () => {
  const BY_NUMBER = { offset: { kind: 'offset', ...SIZED, offsetParam: 'offset' }, page: PAGE } as const;
  /** Cuts its pages at 25 items, and counts them. */
  const capped =
    (total: number, of: (count: number) => object) =>
    (query: Query): Reply => {
      const from = query('offset') ?? ((query('page') ?? 1) - 1) * 25;
      const to = Math.min(total, from + 25);
      return { from, to, statements: of(Math.max(0, to - from)) };
    };

  for (const [kind, settings] of Object.entries(BY_NUMBER)) {
    it(`is an error by ${kind} where the platform cuts its pages below the size`, async () => {
      const pagination = { ...settings, total: member('count') };
      const counting = (total: number) => capped(total, (count) => ({ count }));
      const wrong = await read(pagination, counting(120));
      expect(wrong.result)
        .to.contain('seems to end after 25 items')
        .and.to.contain('returned 25 others')
        .and.to.contain('pagination.total');
      const right = await read(pagination, counting(25));
      // What is behind it, and one page further, and whether it is where the list begins.
      expect(right).to.include({ result: 25 }).and.to.have.property('targets').with.length(4);
    });

    it(`is an error by ${kind} where one id fills all pages, and those behind the total`, async () => {
      const one = async (target: number) => {
        const open = createConfirmations(Date.now);
        const pagination = { ...settings, total: member('total') };
        const reply = (query: Query): Reply => {
          const from = query('offset') ?? ((query('page') ?? 1) - 1) * 50;
          const to = from < target ? from + 50 : from;
          return { from, to, statements: { total: 100 }, idOf: () => 'one' };
        };
        return (await read(pagination, reply, {}, open)).result;
      };
      expect(await one(100)).to.equal(100);
      expect(await one(1000))
        .to.contain('all 100 items have one id')
        .and.to.contain(`pagination.${kind}Param`);
    });

    it(`is an error by ${kind} where a page is repeated before others follow, as the platform rounds places down`, async () => {
      const pagination = { ...settings, size: 2, total: member('count') };
      const rounding = (query: Query): Reply => {
        const size = query('limit') ?? 2;
        const place = query('offset') ?? query('page') ?? 0;
        const from = Math.floor(place / size) * size;
        const to = Math.min(9, from + size);
        return { from, to, statements: { count: Math.max(0, to - from) } };
      };
      const numbered = { ...pagination, ...(kind === 'page' && { firstPage: 0 }) } as Pagination;
      expect((await read(numbered, rounding)).result).to.contain('returned 2 others');
    });

    it(`is accepted by ${kind} if it is no count, or the platform refuses the next page`, async () => {
      const total = capped(25, () => ({ total: 25 }));
      expect((await read({ ...settings, total: member('total') }, total)).targets).to.have.length(1);
      for (const status of [400, 404, 422]) {
        const counts = capped(25, () => ({ count: 25 }));
        const refusing = (query: Query) =>
          (query('offset') ?? 0) > 0 || (query('page') ?? 1) > 1 ? status : counts(query);
        expect((await read({ ...settings, total: member('count') }, refusing)).result).to.equal(25);
      }
    });
  }

  it('is an error where ids behind a wrong total are those of earlier items', async () => {
    const counted = { ...PAGE, size: 10, total: member('total') };
    const ofSeven = (count: number, isRepeated = false) => {
      return (query: Query): Reply => {
        const from = 10 * ((query('page') ?? 1) - 1);
        const begin = isRepeated ? Math.min(from, 20) : from;
        return {
          from: begin,
          to: Math.min(count, begin + 10),
          statements: { total: 30 },
          idOf: (item) => `${item % 7}`,
        };
      };
    };
    expect((await read(counted, ofSeven(33))).result).to.contain('the list seems to end after 30 items');
    for (const isRepeated of [false, true]) expect((await read(counted, ofSeven(30, isRepeated))).result).to.equal(30);
  });
});

describe('a list behind which the platform sends its last page again', () => {
  const repeating = (total: number) => (query: Query) => {
    const size = query('limit') ?? 100;
    const last = Math.max(0, Math.ceil(total / size) - 1);
    const asked = query('offset') ?? ((query('page') ?? 1) - 1) * size;
    const from = asked < total ? asked : last * size;
    return { from, to: Math.min(total, from + size) };
  };
  const OFFSET = { kind: 'offset', ...SIZED, offsetParam: 'offset' } as const;

  it('is complete also if that is the only one, and an error if the platform does not read the place', async () => {
    for (const settings of [PAGE, OFFSET]) {
      const pagination = { ...settings, beyondEnd: 'repeated' } as const;
      for (const total of [1, 2, 42, 99, 100, 142, 200])
        expect((await read(pagination, repeating(total))).result, `${total}`).to.equal(total);
      const ignored = (query: Query) => repeating(42)((name) => (name === 'limit' ? query(name) : undefined));
      expect((await read(pagination, ignored)).result)
        .to.contain('42 items')
        .and.to.contain(`${settings.kind}Param`);
    }
  });

  it('is an error where the platform ignores the place, and the page has an id twice that may not repeat', async () => {
    const counted = { ...PAGE, size: 2, total: member('count') };
    const ignoring = (query: Query): Reply => {
      const to = query('limit') ?? 5;
      return { to, statements: { count: to }, idOf: (item) => `${Math.floor(item / 5)}`, idsMayRepeat: false };
    };
    expect(`${(await read(counted, ignoring)).result}`).to.contain('in pages of 1, with 1 item, returned 1');
  });
});

describe('a list by page without a total', () => {
  const numbered =
    (total: number, firstPage: number) =>
    (query: Query): Reply => {
      const size = query('limit') ?? 100;
      const from = ((query('page') ?? firstPage) - firstPage) * size;
      return { from, to: Math.min(total, from + size) };
    };

  it('is an error where the platform counts its pages from 0', async () => {
    // The first 100 items are missing each time: pages are full, short, or several.
    for (const total of [200, 120, 250, 102]) {
      const { result } = await read(PAGE, numbered(total, 0));
      expect(result)
        .to.contain(`${total - 100} items`)
        .and.to.contain('pagination.firstPage');
      expect((await read({ ...PAGE, ...OFF }, numbered(total, 0))).result).to.equal(total - 100);
    }
  });

  it('is complete if it is counted as settings define, full or not', async () => {
    for (const firstPage of [0, 1] as const) {
      for (const total of [1, 2, 3, 20, 99, 100, 101, 200, 250]) {
        const { result } = await read({ ...PAGE, firstPage }, numbered(total, firstPage));
        expect(result, `${total} from ${firstPage}`).to.equal(total);
      }
    }
  });

  it('is an error where the platform cuts its pages below the size, and counts them by it', async () => {
    const cut = (total: number, counted?: number) => (query: Query) => {
      const from = ((query('page') ?? 1) - 1) * (counted ?? query('limit') ?? 100);
      return { from, to: Math.min(total, from + Math.min(query('limit') ?? 100, 25)) };
    };
    for (const total of [26, 60, 101, 120, 210]) {
      expect((await read(PAGE, cut(total))).result, `${total}`).to.contain('set pagination.size to 25 or less');
      expect((await read(PAGE, cut(total, 25))).result, `${total}`).to.equal(total);
    }
  });

  it('is not ended by a page of the same id as the last one, where ids may repeat', async () => {
    const pages = [
      [0, 2],
      [2, 3],
      [4, 5],
    ] as const;
    const versions = (query: Query): Reply => {
      const [from, to] = pages[(query('page') ?? 1) - 1] ?? [5, 5];
      return { from, to, idOf: () => 'one' };
    };
    expect((await read({ ...PAGE, size: 2 }, versions)).result).to.contain('a page before the last is not full');
  });

  it('is an error where the platform counts from 0, and ids of its first page repeat on others', async () => {
    const counting = (firstPage: number) => (query: Query) => {
      const from = ((query('page') ?? firstPage) - firstPage) * 7;
      return { from, to: Math.min(36, from + 7), idOf: (item: number) => `id-${Math.floor(item / 8)}` };
    };
    const unsized = { ...PAGE, sizeParam: null };
    expect((await read(unsized, counting(1))).result).to.equal(36);
    expect((await read(unsized, counting(0))).result).to.contain('pagination.firstPage');
  });

  it('is an error where the platform counts from 0 and ignores the size, or none is sent', async () => {
    const ignoring = (query: Query): Reply => numbered(120, 0)((name) => (name === 'limit' ? 100 : query(name)));
    for (const sizeParam of ['limit', null]) {
      const { result, targets } = await read({ ...PAGE, sizeParam }, ignoring);
      for (const part of ['the list has 20 items', 'without page=1', 'pagination.firstPage'])
        expect(result).to.contain(part);
      expect(targets).to.include(sizeParam === null ? '/list' : '/list?limit=100');
    }
  });

  it('is an error where the first page without the parameter has an id twice that may not repeat', async () => {
    const byOffset = (query: Query): Reply => ({
      from: query('page') ?? 0,
      to: 2,
      idOf: () => 'one',
      idsMayRepeat: false,
    });
    const { result } = await read({ ...PAGE, sizeParam: null }, byOffset);
    expect(`${result}`).to.contain('the list has 1 items').and.to.contain('returned 2');
  });

  it('is an error where it is empty, and the first page without the parameter is not', async () => {
    const OFFSET = { ...PAGE, kind: 'offset', offsetParam: 'page' } as const;
    for (const pagination of [PAGE, OFFSET]) {
      const { result } = await read(pagination, (query) => ({ to: query('page') === undefined ? 3 : 0 }));
      expect(result).to.contain('the list has 0 items').and.to.contain('returned 3');
      expect((await read(pagination, () => ({ to: 0 }))).result).to.equal(0);
      expect((await read(pagination, (query) => (query('page') === undefined ? 400 : { to: 0 }))).result).to.equal(0);
    }
    // Keycloak: first is the place, and max the size.
    const swapped = { ...OFFSET, sizeParam: 'first', offsetParam: 'max' } as const;
    const { result } = await read(swapped, (query) => ({
      from: query('first') ?? 0,
      to: Math.min(3, query('max') ?? 100),
    }));
    expect(result).to.contain('the list has 0 items').and.to.contain('returned 3');
  });

  it('is whole where the platform sends the whole list if no page is requested', async () => {
    const optional = (query: Query): Reply => (query('page') === undefined ? { to: 55 } : numbered(55, 1)(query));
    const { result } = await read({ ...PAGE, size: 10 }, optional);
    expect(result).to.equal(55);
  });

  it('is an error if an empty page follows a full one, and shorter pages have no second one', async () => {
    const oneFull = (query: Query): Reply => ({ to: query('page') === 1 ? (query('limit') ?? 100) : 0 });
    const { result, targets } = await read(PAGE, oneFull);
    expect(result).to.contain('a full one of 100 items').and.to.contain('with 1 item, returned 0');
    expect(targets).to.include('/list?limit=99&page=2');
  });

  it('is whole where the platform refuses a page behind the last, and an error where it refuses the second', async () => {
    const refusing = (query: Query): Reply => (query('limit') === 100 ? numbered(20, 1)(query) : 404);
    expect((await read(PAGE, refusing)).result).to.equal(20);
    const full = (query: Query): Reply => (query('limit') === 100 ? numbered(100, 1)(query) : 422);
    expect((await read(PAGE, full)).result).to.contain('was refused');
  });
});

describe('a POST that may write', () => {
  it('is not repeated as a test: a full first page without an end is an error that names retryPost', async () => {
    for (const kind of ['token', 'link'] as const) {
      const platform = simulate({ kind, items: itemsUpTo(5), size: 5, posted: true, repeatable: false });
      const error = await readAll(platform, {}, true).catch((reason) => reason);
      expect(error).to.have.property('code', 'upstream_invalid');
      expect(error.reason).to.contain('fullPage').and.to.contain('retryPost: true');
      expect(platform.targets).to.have.length(1);
    }
  });

  it('is not repeated either where the size is in a text of its body', async () => {
    const query = '{ projects(first: 30) { nodes { id } } }';
    const post = { body: () => JSON.stringify({ query }), isRepeatable: false };
    const token = { kind: 'token', sizeParam: null, size: 100, tokenParam: 'after', next: member('next') } as const;
    for (const pagination of [{ kind: 'none' }, token] as const) {
      expect((await read(pagination, () => ({ to: 30 }), { post })).result).to.contain('retryPost: true');
      expect((await read(pagination, () => ({ to: 20 }), { post })).result).to.equal(20);
    }
  });

  it('is not repeated with offset and page either', async () => {
    for (const kind of ['offset', 'page', 'offset with total'] as const) {
      const platform = simulate({ kind, items: itemsUpTo(5), size: 5, posted: true, repeatable: false });
      expect(await readAll(platform, {}, true)).to.have.length(5);
      expect(platform.targets).to.have.length(kind === 'offset with total' ? 1 : 2);
    }
  });
});

describe('lists of one resource, as of several parents', () => {
  it('are confirmed at the same time until one has shown more than an empty list does', async () => {
    const open = createConfirmations(Date.now);
    const whole = (count: number) => read({ kind: 'none' }, () => ({ to: count }), {}, open);
    const cut = (count: number) => read({ kind: 'none' }, (query) => ({ to: query('limit') ?? count }), {}, open);
    const [empty, first] = await Promise.all([whole(0), cut(10)]);
    expect(empty.result).to.equal(0);
    expect(first.result).to.contain('the list has 10 items');
    expect((await whole(20)).result).to.equal(20);
    expect((await cut(20)).result).to.equal(20);
    expect((await cut(21)).result).to.contain('the list has 21 items');
  });
});
