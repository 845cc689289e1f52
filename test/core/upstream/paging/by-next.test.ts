import { expect } from 'chai';
import type { Pagination } from '../../../../src/core/upstream/paging/page-address.ts';
import { itemsUpTo, type Platform, readAll, reasonOf, simulate } from './platform.ts';
import { readList } from './read-list.ts';

/** A platform whose first page has one item and the others none, and whose pages name these as the next. */
const leading =
  (kind: 'token' | 'link in body') =>
  (...nexts: unknown[]): Platform =>
    simulate({
      ...{ kind, items: itemsUpTo(1), size: 5 },
      mangle: (page, request) => ({ ...page, items: request === 0 ? page.items : [], body: { next: nexts[request] } }),
    });
const withTokens = leading('token');
const linking = leading('link in body');
const tokensOf = ({ targets }: Platform) => targets.map((target) => target.split('token=')[1]);

const TOO_LONG = 'the token or link to the next page is longer than maxNextBytes: 4096';

describe('pages by token', () => {
  it('continue with a token, also a number, and end over an empty page without one', async () => {
    for (const tokens of [['a'], [7]]) {
      const platform = withTokens(...tokens);
      expect(await readAll(platform)).to.deep.equal(itemsUpTo(1));
      expect(tokensOf(platform)).to.deep.equal([undefined, `${tokens[0]}`]);
    }
  });

  it('are invalid if two in a row have no items and a token or link to a next one', async () => {
    for (const platform of [withTokens('a', 'b', 7, 8), linking('?page=2', '?page=3', '?page=4', '')]) {
      expect(await reasonOf(platform)).to.contain('two pages in a row have no items and lead to a next one');
      expect(platform.targets).to.have.length(3);
    }
  });

  it('are invalid where only the first page has items, and the tokens of shorter ones lead to none either', async () => {
    const platform = (leads: boolean) =>
      simulate({
        ...{ kind: 'token', items: itemsUpTo(12), size: 5 },
        mangle: (page, request) =>
          request === 1 || (request === 3 && !leads) ? { ...page, items: [], body: {} } : page,
      });
    const reason = await reasonOf(platform(false), true);
    for (const part of ['5 items', 'returned 4, followed by 0', 'pagination.next']) expect(reason).to.contain(part);
    expect(await readAll(platform(true), {}, true)).to.have.length(5);
  });

  it('are invalid if a token is repeated, even after an empty page', async () => {
    const platform = withTokens('a', 'a', 'a');
    expect(await reasonOf(platform)).to.contain('page 2 leads to an earlier one');
    expect(platform.targets).to.have.length(2);
  });
});

describe('pages by link', () => {
  it('never lead a credential to another origin', async () => {
    for (const link of [
      'https://evil.example/base/v1/list?page=2',
      'http://platform.example/base/v1/list?page=2',
      'https://platform.example:8443/base/v1/list?page=2',
      '//evil.example/base/v1/list',
      'blob:https://platform.example/base/v1/list',
      'javascript:alert(1)',
    ]) {
      const platform = linking(link);
      expect(await reasonOf(platform), link).to.contain('has another origin');
      expect(platform.targets).to.have.length(1);
    }
    expect(await reasonOf(linking('https://'))).to.contain('is not a URL');
  });

  it('are invalid where they loop, though it was over empty pages', async () => {
    expect(await reasonOf(linking('?page=2', '?page=2#again'))).to.contain('page 2 leads to an earlier one');
    expect(await reasonOf(linking('?installed=true&size=5'))).to.contain('page 1 leads to an earlier one');
  });
});

describe('the token or link to the next page', () => {
  it('is the last where it is empty, null, false, absent, 0 or -1', async () => {
    for (const last of ['', null, false, undefined, 0, '0', -1]) {
      const byToken = withTokens('a', last);
      await readAll(byToken);
      expect(tokensOf(byToken)).to.deep.equal([undefined, 'a']);
      const byLink = linking('?page=2', last, '?page=4');
      await readAll(byLink);
      expect(byLink.targets).to.have.length(2);
    }
  });

  it('is invalid where it is anything else than text, or than a number that has all digits', async () => {
    for (const token of [true, { id: 1 }, ['a'], 1.5, 2 ** 53])
      expect(await reasonOf(withTokens(token)), String(token)).to.contain('neither text nor a whole number');
    for (const link of [7, { href: '?page=2' }, ['?page=2']])
      expect(await reasonOf(linking(link))).to.contain('check pagination.next');
  });

  it('is no token if it is a URL, of which many platforms would read no place', async () => {
    for (const url of ['https://platform.example/list?page=2', '/list?page=2', '//list?page=2'])
      expect(await reasonOf(withTokens(url))).to.contain('set pagination.kind: link');
    for (const token of ['/9j/4AAQ==', 'https', '?page=2', 'a/b?']) {
      const platform = withTokens(token);
      await readAll(platform);
      expect(platform.targets, token).to.have.length(2);
    }
  });

  it('may have so many bytes and no more', async () => {
    for (const [leads, begin, most, long] of [
      [withTokens, 'é', 4094, 'x y/'.repeat(480_000)],
      [linking, '?é=', 4092, `?${' '.repeat(1_900_000)}`],
    ] as const) {
      const next = begin + 'x'.repeat(most);
      expect(await readAll(leads(next))).to.have.length(1);
      for (const longer of [`${next}x`, long]) {
        const platform = leads(longer);
        expect(await reasonOf(platform)).to.equal(TOO_LONG);
        expect(platform.targets).to.have.length(1);
      }
    }
  });
});

describe('the token or link in a response header', () => {
  const read = (pagination: Pagination, nexts: readonly (string | undefined)[]) => {
    const left = [...nexts];
    return readList(pagination, () => {
      const next = left.shift();
      return { to: 1, headers: next === undefined ? {} : { 'x-ms-continuationtoken': next } };
    });
  };
  const nextHeader = 'X-MS-ContinuationToken';

  it('leads to the next page in place of one in the body', async () => {
    const sized = { sizeParam: null, size: 5, nextHeader } as const;
    const token = { kind: 'token', ...sized, tokenParam: 'continuationToken', next: () => 'not this' } as const;
    expect(await read(token, ['a b', undefined])).to.deep.equal({
      ...{ result: 2, targets: ['/list', '/list?continuationToken=a%20b'] },
    });
    expect(await read(token, [undefined])).to.deep.equal({ result: 1, targets: ['/list'] });
    const link = await read({ kind: 'link', ...sized }, ['/list?page=2', undefined]);
    expect(link).to.deep.equal({ result: 2, targets: ['/list', '/list?page=2'] });
  });
});
