import { expect } from 'chai';
import { itemsUpTo, readAll, simulate } from './platform.ts';

const platformWith = (tokens: readonly unknown[]) =>
  simulate({
    kind: 'token',
    items: itemsUpTo(1),
    size: 10,
    mangle: (page, request) => ({ ...page, items: request === 0 ? page.items : [], body: { next: tokens[request] } }),
  });

describe('pages by token', () => {
  it('are asked for by size, and from the second on by token', async () => {
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

  it('go on over empty pages as long as there is a token, be it a number', async () => {
    const platform = platformWith(['a', 'b', 0, 7]);
    expect(await readAll(platform)).to.deep.equal(itemsUpTo(1));
    const tokens = platform.targets.map((target) => target.split('token=')[1]);
    // At last, the token of a page of another size is tested.
    expect(tokens).to.deep.equal([undefined, 'a', 'b', '0', '7', undefined]);
  });

  it('end with an empty, null, false or absent token', async () => {
    for (const last of ['', null, false, undefined]) {
      const platform = platformWith(['a', last]);
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
      const error = await readAll(platformWith([token])).catch((reason) => reason);
      expect(error, String(token)).to.include({
        code: 'upstream_invalid',
        reason: 'the next page token is neither text nor a whole number: check pagination.next',
      });
    }
  });

  it('have tokens of so many bytes as settings say, and not of one more', async () => {
    const token = `é${'x'.repeat(4094)}`;
    expect(await readAll(platformWith([token]))).to.have.length(1);
    for (const longer of [`${token}x`, 'x y/'.repeat(480_000)]) {
      const platform = platformWith([longer]);
      expect(await readAll(platform).catch((reason) => reason)).to.include({
        code: 'upstream_invalid',
        reason: 'the token or link to the next page is longer than maxNextBytes: 4096',
      });
      expect(platform.targets).to.have.length(1);
    }
  });

  it('are invalid where a token comes again, though it was an empty page', async () => {
    const platform = platformWith(['a', 'b', 'a', 'b', 'a']);
    const error = await readAll(platform).catch((reason) => reason);
    expect(error).to.include({
      code: 'upstream_invalid',
      reason:
        'page 3 names the token that an earlier page named: the pages loop: check pagination.tokenParam and pagination.next',
    });
    expect(platform.targets).to.have.length(3);
  });
});
