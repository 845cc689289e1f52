import { expect } from 'chai';
import { linkTo } from '../../../src/upstream/pagination/by-link.ts';
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

  it('end with an empty, null or absent link', async () => {
    for (const last of ['', null, undefined]) {
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
        'the next page link leads elsewhere: a credential goes to its configured origin only',
      );
      expect(platform.targets).to.have.length(1);
    }
  });

  it('never take a user or a password from a link', async () => {
    for (const link of ['https://user@platform.example/x', 'https://:password@platform.example/x']) {
      expect(await reasonOf(linking(link))).to.equal('the next page link holds a user or a password');
    }
  });

  it('are invalid where the link is no text or no URL', async () => {
    for (const link of [false, 7, {}, ['?page=2']])
      expect(await reasonOf(linking(link))).to.equal('the next page link is not text');
    expect(await reasonOf(linking('https://'))).to.equal('the next page link is no URL');
  });

  it('are invalid where they loop, though it was over empty pages', async () => {
    const reason = 'a page links to an earlier one: the pages loop';
    expect(await reasonOf(linking('?page=2', '?page=2#again'))).to.equal(reason);
    expect(await reasonOf(linking('?page=2', '?page=3', '?page=2'))).to.equal(reason);
    expect(await reasonOf(linking('?installed=true&size=5'))).to.equal(reason);
  });
});

const next = (field: string | string[] | undefined) => linkTo('next', field);

const errorOf = (field: string | string[]) => {
  try {
    next(field);
  } catch (error) {
    return error;
  }
  return expect.fail(`${field} passed`);
};

describe('the Link header', () => {
  it('names the next page', () => {
    expect(next('<https://api.example/x?page=2>; rel="next"')).to.equal('https://api.example/x?page=2');
    expect(next('<?a=1,2;3>;rel=NEXT;title="a, b; rel=prev"')).to.equal('?a=1,2;3');
    expect(next('</1>; rel=prev, </3>; rel="last next"')).to.equal('/3');
    expect(next('</1>; title="say \\"hi, <you>\\""; rel=next')).to.equal('/1');
    expect(next('<>; rel=next')).to.equal('');
  });

  it('is read from several fields, with space around commas and semicolons', () => {
    expect(next(['</1>; rel=first', '</3>; rel=next'])).to.equal('/3');
    expect(next('</1>; rel="first" , \t</3> ; rel="next" ; title=x')).to.equal('/3');
    expect(next('</1>; rel=first ,</3>; rel=next , </9>; rel=last')).to.equal('/3');
  });

  it('names none where it is absent or has other relations only', () => {
    for (const field of [undefined, '', [], '</1>; rel=prev', '</1>', '</1>; title=next', '</1>; rel="nextish prev"']) {
      expect(next(field)).to.equal(undefined);
    }
  });

  it('may name the same next page twice, but not two', () => {
    expect(next('</3>; rel=next, </3>; rel="next last"')).to.equal('/3');
    expect(errorOf('</3>; rel=next, </4>; rel=next')).to.include({
      code: 'upstream_invalid',
      reason: 'the Link header names several next pages',
    });
  });

  it('is refused where it is malformed, rather than read as if there were no next page', () => {
    for (const field of [
      'https://api.example/x; rel=next',
      '</3',
      '</3> rel=next',
      '</3>; title="open; rel=next',
      '</3>; x; rel=next',
      '</1>; x, </3>; rel=next',
      '</3>; uri=/4; rel=next',
      "</3>; title*='; rel=next",
      '</3>; rel=next</4>; rel=prev',
      '</3>; rel=""; rel=next',
    ]) {
      expect(errorOf(field), field).to.include({ code: 'upstream_invalid', reason: 'the Link header is malformed' });
    }
  });

  it('is read in linear time', () => {
    const begun = performance.now();
    next(`</1>; title="x${' '.repeat(16_000)}y"; a${'\t'.repeat(16_000)}; rel=prev`.replace('a', 'a=1'));
    expect(performance.now() - begun).to.be.lessThan(100);
  });
});
