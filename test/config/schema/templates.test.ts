import { expect } from 'chai';
import fc from 'fast-check';
import { fillPath, hasSoundBraces, namesIn } from '../../../src/config/schema/templates.ts';

describe('a path with names in braces', () => {
  it('tells its names, and whether each brace is one of a name', () => {
    expect(namesIn('/a/{b}/c-{d_1}/{b}')).to.deep.equal(['b', 'd_1', 'b']);
    expect(['/a', '/{a}', '/{a}{b}', '/x{a}y'].filter(hasSoundBraces)).to.have.length(4);
    expect(['/{', '/}', '/{}', '/{a-b}', '/{{a}}', '/{a', '/}a{'].filter(hasSoundBraces)).to.deep.equal([]);
  });

  it('is filled with what reads back as the values, each within its segment', () => {
    const value = fc.string({ minLength: 1 }).filter((text) => !['.', '..'].includes(text));
    fc.assert(
      fc.property(value, value, (a, b) => {
        const path = fillPath('/x/{a}/y/{b}', { a, b });
        const segments = new URL(`https://platform.example${path}`).pathname.split('/');
        expect(segments.map(decodeURIComponent)).to.deep.equal(['', 'x', a, 'y', b]);
      }),
    );
  });
});
