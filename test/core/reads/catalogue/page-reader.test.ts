import { expect } from 'chai';
import { createPageParser } from '../../../../src/core/mapping/page.ts';
import { createPageReader, type MappedPage } from '../../../../src/core/reads/catalogue/page-reader.ts';
import { listWith, mapperWith } from './loader-over.ts';

describe('a page', () => {
  const items = (count: number, id = (index: number): unknown => `id-${index}`) =>
    Array.from({ length: count }, (_, index) => ({ id: id(index), name: 'n' }));

  function read(body: unknown, first = true) {
    const parse = createPageParser({ items: 'things' });
    const readPage = createPageReader({ list: listWith(), maxPageValues: 250_000, parse, map: mapperWith() });
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return readPage({ body: Buffer.from(text), headers: {}, first });
  }

  it('is an error where it is none, where parsing it would be costly, and where no list can be made of it', async () => {
    for (const [body, reason] of [
      ['no JSON', 'the page is not JSON'],
      [{}, 'the page holds no list of items where settings say'],
      [`[${'{},'.repeat(200_000)}{}]`, 'the page holds more values than maxPageValues'],
      [`${'['.repeat(40_000)}${']'.repeat(40_000)}`, 'the page nests deeper than 1000 levels'],
      [{ things: items(450, (index) => (index === 300 ? {} : index)) }, 'field id of item 300 is an object or a list'],
      [{ things: items(1001) }, 'the list has more items than maxItems: 1000'],
    ] as const) {
      const error = await (async () => read(body))().catch((thrown: unknown) => thrown);
      expect(error).to.include({ code: 'upstream_invalid', reason });
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
