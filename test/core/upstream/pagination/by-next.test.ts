import { expect } from 'chai';
import { itemsUpTo, readAll, simulate } from './platform.ts';

const withTokens = (tokens: readonly unknown[]) =>
  simulate({
    kind: 'token',
    items: itemsUpTo(1),
    size: 10,
    mangle: (page, request) => ({ ...page, items: request === 0 ? page.items : [], body: { next: tokens[request] } }),
  });

describe('pages by token', () => {
  it('are requested by size, and from the second on by token', async () => {
    const platform = simulate({ kind: 'token', items: itemsUpTo(3), size: 2 });
    await readAll(platform);
    expect(platform.targets).to.deep.equal([
      '/base/v1/list?installed=true&size=2',
      '/base/v1/list?installed=true&size=2&token=token%202%2B%2F%3D',
    ]);
  });

  it('send no size where settings name no parameter for it', async () => {
    const platform = simulate({ kind: 'token', items: itemsUpTo(3), size: 2 });
    const pagination = { kind: 'token', sizeParam: null, size: 2, tokenParam: 'token', next: () => '' } as const;
    await readAll(platform, { pagination });
    expect(platform.targets).to.deep.equal(['/base/v1/list?installed=true']);
  });

  it('continue over empty pages as long as there is a token, also a number', async () => {
    const platform = withTokens(['a', 'b', 0, 7]);
    expect(await readAll(platform)).to.deep.equal(itemsUpTo(1));
    const tokens = platform.targets.map((target) => target.split('token=')[1]);
    // At last, the token of a page of another size is tested.
    expect(tokens).to.deep.equal([undefined, 'a', 'b', '0', '7', undefined]);
  });

  it('end with an empty, null, false or absent token', async () => {
    for (const last of ['', null, false, undefined]) {
      const platform = withTokens(['a', last]);
      await readAll(platform);
      const tokens = platform.targets.map((target) => target.split('token=')[1]);
      expect(tokens).to.deep.equal([undefined, 'a', undefined]);
    }
  });

  it('are invalid where only the first page has items, and the tokens of shorter ones lead to none either', async () => {
    const platform = (leads: boolean) =>
      simulate({
        kind: 'token',
        items: itemsUpTo(12),
        size: 5,
        mangle: (page, request) =>
          request === 1 || (request === 3 && !leads) ? { ...page, items: [], body: {} } : page,
      });
    const error = await readAll(platform(false)).catch((reason) => reason);
    expect(error).to.have.property('code', 'upstream_invalid');
    expect(error.reason)
      .to.contain('5 items')
      .and.to.contain('4 came, and 0 behind them')
      .and.to.contain('pagination.next');
    expect(await readAll(platform(true))).to.have.length(5);
  });

  it('are invalid where the token is anything else, or a number that has lost digits', async () => {
    for (const token of [true, {}, ['a'], 1.5, 2 ** 53]) {
      const error = await readAll(withTokens([token])).catch((reason) => reason);
      expect(error, String(token)).to.include({
        code: 'upstream_invalid',
        reason: 'the next page token is neither text nor a whole number: check pagination.next',
      });
    }
  });

  it('have tokens up to the bound', async () => {
    const token = `é${'x'.repeat(4094)}`;
    expect(await readAll(withTokens([token]))).to.have.length(1);
    for (const longer of [`${token}x`, 'x y/'.repeat(480_000)]) {
      const platform = withTokens([longer]);
      expect(await readAll(platform).catch((reason) => reason)).to.include({
        code: 'upstream_invalid',
        reason: 'the token or link to the next page is longer than maxNextBytes: 4096',
      });
      expect(platform.targets).to.have.length(1);
    }
  });

  it('are invalid where a token comes again, though it was an empty page', async () => {
    const platform = withTokens(['a', 'b', 'a', 'b', 'a']);
    const error = await readAll(platform).catch((reason) => reason);
    expect(error).to.include({
      code: 'upstream_invalid',
      reason:
        'page 3 names the token that an earlier page named: the pages loop: check pagination.tokenParam and pagination.next',
    });
    expect(platform.targets).to.have.length(3);
  });
});

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
  it('start with the size and continue with path and query of each link unchanged', async () => {
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

  it('are invalid where the link is no text or no URL', async () => {
    for (const link of [7, {}, ['?page=2']])
      expect(await reasonOf(linking(link))).to.equal('the link to the next page is not text: check pagination.next');
    expect(await reasonOf(linking('https://'))).to.equal('the link to page 2 is no URL: check pagination.next');
  });

  it('have links up to the bound', async () => {
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
