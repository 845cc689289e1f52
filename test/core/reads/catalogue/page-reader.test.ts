import { expect } from 'chai';
import { createPageParser } from '../../../../src/core/mapping/page.ts';
import { createPageReader, type MappedPage } from '../../../../src/core/reads/catalogue/page-reader.ts';
import { listWith, mapperWith } from './loader-over.ts';

describe('a page', () => {
  const items = (count: number) => Array.from({ length: count }, (_, index) => ({ id: `id-${index}`, name: 'n' }));

  function read(body: unknown, first = true) {
    const parse = createPageParser({ items: 'things' });
    const readPage = createPageReader({ list: listWith(), maxPageValues: 250_000, parse, map: mapperWith() });
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return readPage({ body: Buffer.from(text), headers: {}, first });
  }

  it('throws where it is none or would be costly to parse, and is an error where no list can be made of it', () => {
    for (const [body, reason, isThrown] of [
      ['no JSON', 'the page is not JSON', true],
      [{ things: 5 }, 'the page has no list of items at the configured place', true],
      [`[${'{},'.repeat(200_000)}{}]`, 'the page has more values than maxPageValues', true],
      [`${'['.repeat(40_000)}${']'.repeat(40_000)}`, 'the page nests deeper than 1000 levels', true],
      [{ things: items(1001) }, 'the list has more items than maxItems: 1000', false],
      [{ things: [...items(300), { id: {}, name: 'n' }] }, 'field id of item 300 is an object or a list', false],
    ] as const) {
      const error = { code: 'upstream_invalid', reason };
      if (isThrown) {
        expect(() => read(body))
          .to.throw()
          .that.includes(error);
      } else expect(read(body)).to.include(error);
    }
  });

  it('has a digest of each item, but for a first page that is the whole list', () => {
    for (const [body, first, count] of [
      [{ things: items(2) }, true, undefined],
      [{ things: items(201), next: 'more' }, true, 201],
      [{ things: items(2) }, false, 2],
    ] as const) {
      const digests = (read(body, first) as MappedPage).digests?.match(/.{12}/gs);
      expect(digests && new Set(digests).size).to.equal(count);
    }
  });

  it('has digests that distinguish numbers that differ in their source text only', () => {
    const digestOf = (id: string) => (read(`{"things":[{"id":${id},"name":"n"}],"next":"more"}`) as MappedPage).digests;
    expect(digestOf('1152921504606846976')).to.not.equal(digestOf('1152921504606846977'));
    expect(digestOf('1152921504606846977')).to.equal(digestOf('1152921504606846977'));
  });
});
