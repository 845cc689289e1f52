import { expect } from 'chai';

/** Ids are slugs, and no two are the same. */
export function expectSlugs(items: readonly { readonly id: string }[]): void {
  for (const { id } of items) expect(id).to.match(/^[a-z0-9]+(-[a-z0-9]+)*$/);
  expect(new Set(items.map((item) => item.id)).size).to.equal(items.length);
}
