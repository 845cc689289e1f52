import { expect } from 'chai';
import { linkTo } from '../../../src/upstream/pagination/link-header.ts';

const next = (field: string | string[] | undefined) => linkTo('next', field);

const failureOf = (field: string | string[]) => {
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
    expect(failureOf('</3>; rel=next, </4>; rel=next')).to.include({
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
      expect(failureOf(field), field).to.include({ code: 'upstream_invalid', reason: 'the Link header is malformed' });
    }
  });

  it('is read in linear time', () => {
    const begun = performance.now();
    next(`</1>; title="x${' '.repeat(16_000)}y"; a${'\t'.repeat(16_000)}; rel=prev`.replace('a', 'a=1'));
    expect(performance.now() - begun).to.be.lessThan(100);
  });
});
