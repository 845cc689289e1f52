import { dirname, join, normalize } from 'node:path';
import { expect } from 'chai';
import { readDoc } from '../support/docs.ts';
import { expectedFiles } from './contents.ts';

describe('the pages in the package', () => {
  it('link only to files in the package', async () => {
    const files = await expectedFiles();
    const held = new Set(files.flatMap((file) => [file, `${dirname(file)}/`, `${dirname(dirname(file))}/`]));
    const links = files
      .filter((file) => file.endsWith('.md'))
      .flatMap((page) =>
        [...readDoc(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)[^)]*\)/g)].map(([, target = '']) => ({ page, target })),
      );
    expect(links).not.to.have.length(0);
    const dead = links.filter(({ page, target }) => !held.has(normalize(join(dirname(page), target))));
    expect(dead).to.deep.equal([]);
  });
});
