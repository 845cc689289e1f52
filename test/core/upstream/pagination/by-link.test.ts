import { expect } from 'chai';
import { itemsUpTo, readAll, simulate } from './platform.ts';

/** A platform whose pages link, one after the other, to these. */
const linking = (...links: unknown[]) =>
  simulate({
    kind: 'link in body',
    items: itemsUpTo(1),
    size: 5,
    mangle: (page, request) => ({ ...page, items: request === 0 ? page.items : [], body: { next: links[request] } }),
  });

const reasonOf = async (platform: ReturnType<typeof linking>) => {
  const error = await readAll(platform).catch((reason) => reason);
  expect(error).to.have.property('code', 'upstream_invalid');
  return error.reason;
};

describe('pages by link', () => {
  it('begin with the size and go on with path and query of each link as they are', async () => {
    const platform = linking(
      'https://platform.example/base/v1/list?b=%2f&a=+x%20y#part',
      '?page=3',
      '/other?z',
      'y?',
      '',
    );
    await readAll(platform);
    expect(platform.targets).to.deep.equal([
      '/base/v1/list?installed=true&size=5',
      '/base/v1/list?b=%2f&a=+x%20y',
      '/base/v1/list?page=3',
      '/other?z',
      '/y',
    ]);
  });

  it('end with an empty, null, false or absent link', async () => {
    for (const last of ['', null, false, undefined]) {
      const platform = linking('?page=2', last, '?page=4');
      await readAll(platform);
      expect(platform.targets).to.have.length(2);
    }
  });

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
      expect(await reasonOf(platform), link).to.equal(
        'the link to page 2 leads elsewhere, and a credential goes to its configured origin only: check pagination.next',
      );
      expect(platform.targets).to.have.length(1);
    }
  });

  it('never take a user or a password from a link', async () => {
    for (const link of ['https://user@platform.example/x', 'https://:password@platform.example/x']) {
      expect(await reasonOf(linking(link))).to.equal(
        'the link to page 2 holds a user or a password: check pagination.next',
      );
    }
  });

  it('are invalid where the link is no text or no URL', async () => {
    for (const link of [7, {}, ['?page=2']])
      expect(await reasonOf(linking(link))).to.equal('the link to the next page is not text: check pagination.next');
    expect(await reasonOf(linking('https://'))).to.equal('the link to page 2 is no URL: check pagination.next');
  });

  it('may be linked by so many bytes as settings say, and not by one more', async () => {
    const link = `?é=${'x'.repeat(4096 - 4)}`;
    expect(await readAll(linking(link))).to.have.length(1);
    for (const longer of [`${link}x`, `?${' '.repeat(1_900_000)}`]) {
      const platform = linking(longer);
      expect(await reasonOf(platform)).to.equal('the token or link to the next page is longer than maxNextBytes: 4096');
      expect(platform.targets).to.have.length(1);
    }
  });

  it('are invalid where they loop, though it was over empty pages', async () => {
    const reason = (page: number) =>
      `the link to page ${page} leads to an earlier one, so that the pages loop: check pagination.next`;
    expect(await reasonOf(linking('?page=2', '?page=2#again'))).to.equal(reason(3));
    expect(await reasonOf(linking('?page=2', '?page=3', '?page=2'))).to.equal(reason(4));
    expect(await reasonOf(linking('?installed=true&size=5'))).to.equal(reason(2));
  });
});
