import { expect } from 'chai';
import fc from 'fast-check';
import { cutPage, type Page } from '../../src/demo/cut-page.ts';

function cut(ids: readonly string[], pageSize: number, pageToken: string): Page {
  const items = ids.map((id) => ({ id, name: id }));
  const page = cutPage(items, new URLSearchParams({ pageSize: String(pageSize), pageToken }), 7);
  if ('issue' in page) throw new Error(page.issue);
  return page;
}

describe('cutPage', () => {
  it('leads through any list once, in order, at any page size', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string(), { maxLength: 40 }), fc.nat(50), (ids, pageSize) => {
        const seen: string[] = [];
        let token = '';
        do {
          const page = cut(ids, pageSize, token);
          seen.push(...page.items.map((item) => item.id));
          if (token !== '') expect(page.token).to.equal(token);
          token = page.nextPageToken;
        } while (token !== '' && seen.length <= ids.length);
        expect(seen).to.deep.equal(ids);
      }),
    );
  });

  it('gives one empty page of an empty list', () => {
    expect(cut([], 5, '')).to.deep.equal({ items: [], token: '', nextPageToken: '' });
  });
});
