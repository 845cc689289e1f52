import { expect } from 'chai';
import { causesOf, nameError, stackOf } from '../../../src/core/kernel/errors.ts';

describe('the causes of an error', () => {
  it('are named outermost first, with their codes, without the error itself', () => {
    const socket = Object.assign(new Error('connect ECONNREFUSED 10.0.0.1'), { code: 'ECONNREFUSED' });
    const client = new TypeError('fetch failed', { cause: socket });
    expect(causesOf(new Error('upstream failed', { cause: client }))).to.deep.equal([
      'TypeError',
      'Error ECONNREFUSED',
    ]);
  });

  it('are empty without a cause, and for a value that is not an error', () => {
    expect(causesOf(new Error('alone'))).to.deep.equal([]);
    expect(causesOf(new Error('odd', { cause: 'text' }))).to.deep.equal([]);
    expect(causesOf('text')).to.deep.equal([]);
  });

  it('end after five, also in a cycle', () => {
    const error = new Error('round');
    error.cause = error;
    expect(causesOf(error)).to.deep.equal(Array(5).fill('Error'));
  });
});

describe('the name of an error', () => {
  for (const [facts, name] of [
    [{ name: 'RangeError', code: 'ERR_OUT_OF_RANGE' }, 'RangeError ERR_OUT_OF_RANGE'],
    [{ code: 404 }, 'Error'],
    [{}, 'Error'],
    [{ name: 'what the upstream said', code: 'a b' }, 'Error'],
    [{ code: 'x'.repeat(65) }, 'Error'],
  ] as const) {
    it(`has its code where both look like a name and a code: ${JSON.stringify(facts)}`, () => {
      expect(nameError(Object.assign(new Error('x'), facts))).to.equal(name);
    });
  }
});

describe('the stack of a bug', () => {
  it('is that of the error, or the type of another thrown value', () => {
    expect(stackOf(new TypeError('x')))
      .to.contain('TypeError: x')
      .and.to.contain('errors.test.ts');
    const bare = Object.assign(new Error('x'), { stack: undefined });
    expect([bare, 'text-from-outside', undefined].map(stackOf)).to.deep.equal([
      'thrown: object',
      'thrown: string',
      'thrown: undefined',
    ]);
  });
});
