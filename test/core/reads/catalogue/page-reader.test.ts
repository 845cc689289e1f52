import { expect } from 'chai';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { createPageParser } from '../../../../src/core/mapping/page.ts';
import { createPageReader } from '../../../../src/core/reads/catalogue/page-reader.ts';
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

  const made = (body: unknown, first?: boolean) => {
    const page = read(body, first);
    return page instanceof GatewayError ? expect.fail(page.message) : page;
  };

  it('is mapped, its items in order', () => {
    const { items: mapped, count } = made({ things: items(450) });
    expect(count).to.equal(450);
    expect(JSON.parse(`[${mapped.bytes}]`)).to.deep.equal(items(450));
  });

  it('throws where it is none, and is an error where a list cannot be made of it', () => {
    const none = (reason: string) => ({ code: 'upstream_invalid', reason });
    expect(() => read('no JSON'))
      .to.throw()
      .that.includes(none('the page is not JSON'));
    expect(() => read({}))
      .to.throw()
      .that.includes(none('the page holds no list of items where settings say'));
    expect(read({ things: items(450, (index) => (index === 300 ? {} : index)) })).to.include(
      none('field id of item 300 is an object or a list'),
    );
    expect(read({ things: items(1001) })).to.include(none('the list has more items than maxItems: 1000'));
  });

  it('throws where its shape would make parsing it costly', () => {
    const none = (reason: string) => ({ code: 'upstream_invalid', reason });
    expect(() => read(`[${'{},'.repeat(200_000)}{}]`))
      .to.throw()
      .that.includes(none('the page holds more values than maxPageValues'));
    expect(() => read(`${'['.repeat(40_000)}${']'.repeat(40_000)}`))
      .to.throw()
      .that.includes(none('the page nests deeper than 1000 levels'));
  });

  it('has a digest of each item, but for a first page that is the whole list', () => {
    const digestsOf = (body: object, first: boolean) => made(body, first).digests?.match(/.{12}/gs);
    expect(digestsOf({ things: items(2) }, true)).to.equal(undefined);
    expect(new Set(digestsOf({ things: items(201), next: 'more' }, true)).size).to.equal(201);
    expect(new Set(digestsOf({ things: items(2) }, false)).size).to.equal(2);
  });

  it('has digests that distinguish numbers that differ in their source text only', () => {
    const digestOf = (id: string) => made(`{"things":[{"id":${id},"name":"n"}],"next":"more"}`).digests;
    expect(digestOf('1152921504606846976')).to.not.equal(digestOf('1152921504606846977'));
    expect(digestOf('1152921504606846977')).to.equal(digestOf('1152921504606846977'));
  });
});
