import { expect } from 'chai';
import { ConfigError } from '../../../src/core/config/config-error.ts';

describe('an error about settings', () => {
  it('has its issues in the order of the file, one a line', () => {
    const error = new ConfigError(
      [
        { path: ['b', 2, 'x.y', 'z'], message: 'is wrong', line: 12, column: 3 },
        { path: [], message: 'is first', line: 2, column: 9 },
        { path: ['a'], message: 'is second', line: 12, column: 1 },
      ],
      'p.yaml',
    );
    expect(error.message).to.equal(
      'p.yaml:2:9: is first\np.yaml:12:1: a: is second\np.yaml:12:3: b[2]["x.y"].z: is wrong',
    );
    expect(error.issues.map(({ path }) => path)).to.deep.equal([[], ['a'], ['b', 2, 'x.y', 'z']]);
  });

  it('names the file alone for what is wrong with all of it', () => {
    expect(new ConfigError([{ path: [], message: 'is lost' }], 'p.yaml').message).to.equal('p.yaml: is lost');
  });

  it('names no file where there is none, and keeps the order that it was given', () => {
    const error = new ConfigError([
      { path: ['b'], message: 'is wrong' },
      { path: ['a'], message: 'is wrong' },
    ]);
    expect(error.message).to.equal('b: is wrong\na: is wrong');
  });

  it('keeps each issue on one line, and what a terminal obeys out of it', () => {
    const error = new ConfigError([{ path: ['a'], message: 'has a\r\nb\u001b[31m', line: 1, column: 1 }], 'p\n.yaml');
    expect(error.message).to.equal('p .yaml:1:1: a: has a b [31m');
  });
});
