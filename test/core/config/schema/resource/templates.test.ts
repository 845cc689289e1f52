import { expect } from 'chai';
import fc from 'fast-check';
import {
  checkPointer,
  fillBody,
  fillPath,
  isPointer,
} from '../../../../../src/core/config/schema/resource/templates.ts';
import { atDepth } from '../../../../support/depth.ts';

describe('a path with names in braces', () => {
  it('is filled with what reads back as the values, each within its segment', () => {
    const value = fc.string({ minLength: 1 }).filter((text) => !['.', '..'].includes(text));
    fc.assert(
      fc.property(value, value, (a, b) => {
        const path = fillPath('/x/{parent.a}/y/{parent.b}', { 'parent.a': a, 'parent.b': b });
        const segments = new URL(`https://platform.example${path}`).pathname.split('/');
        expect(segments.map(decodeURIComponent)).to.deep.equal(['', 'x', a, 'y', b]);
      }),
    );
  });
});

type Path = readonly (string | number)[];

/** A pointer as RFC 6901, section 3 has it. */
const pointerTo = (path: Path) =>
  path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** Every value of a body that is no block or list, and every block and list, by its path. */
function partsOf(value: unknown, path: Path = []): { readonly path: Path; readonly value: unknown }[] {
  const own = path.length === 0 ? [] : [{ path, value }];
  if (typeof value !== 'object' || value === null) return own;
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return [...own, ...keys.flatMap((key) => partsOf(Reflect.get(value, key), [...path, key]))];
}

const isBlock = (value: unknown) => typeof value === 'object' && value !== null;

/** Bodies with names that pointers have to escape, that look like indexes, or that every object inherits. */
const name = fc.oneof(
  fc.constantFrom('', '~', '/', '~0', '~1', '~01', 'a/b', '0', '01', '-', '-1', ' ', 'ü', '"', 'length', 'toString'),
  // Node 26 parses the key `"` as `\` where an object before had the key `\` in its place.
  fc.string().filter((text) => text !== '__proto__' && !text.endsWith('\\')),
);
const { body } = fc.letrec<{ body: object; value: unknown }>((tie) => ({
  body: fc.dictionary(name, tie('value'), { minKeys: 1, maxKeys: 4, noNullPrototype: true }),
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<unknown>(null, '', 'x', 0, 7, true),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('body'),
  ),
}));

describe('a pointer into a body', () => {
  it('leads to each value, and to no other, whatever the names on its way', () => {
    fc.assert(
      fc.property(body, fc.oneof(fc.string(), fc.integer()), (template, put) => {
        const before = structuredClone(template);
        for (const { path, value } of partsOf(template)) {
          const pointer = pointerTo(path);
          expect(isPointer(pointer)).to.equal(true);
          if (isBlock(value)) {
            expect(checkPointer(template, pointer), pointer).to.contain('leads to a block or list');
            continue;
          }
          expect(checkPointer(template, pointer), pointer).to.equal(undefined);
          const filled = fillBody(template, { [pointer]: put });
          for (const part of partsOf(filled)) {
            const isPlace = pointerTo(part.path) === pointer;
            const was = partsOf(before).find((one) => pointerTo(one.path) === pointerTo(part.path));
            expect(was, 'no new part').not.to.equal(undefined);
            if (isPlace) expect(part.value).to.equal(put);
            else if (!isBlock(part.value)) expect(part.value).to.equal(was?.value);
          }
          expect(partsOf(filled)).to.have.length(partsOf(before).length);
        }
        expect(template, 'the template stays as it is').to.deep.equal(before);
      }),
      { numRuns: atDepth(20, 400) },
    );
  });

  it('to a token that is null leads to nothing in the body, but in a list', () => {
    const template = { page: { after: null, list: [null] } };
    expect(fillBody(template, {}, '/page/after')).to.deep.equal({ page: { list: [null] } });
    expect(fillBody(template, {}, '/page/list/0')).to.deep.equal(template);
    expect(fillBody(template, { '/page/after': 'x' }, '/page/after')).to.have.nested.property('page.after', 'x');
  });

  it('that leads to no part of the body is a mistake', () => {
    fc.assert(
      fc.property(body, fc.array(name, { minLength: 1, maxLength: 4 }), (template, path) => {
        const pointer = pointerTo(path);
        fc.pre(!partsOf(template).some((part) => pointerTo(part.path) === pointer));
        expect(checkPointer(template, pointer)).to.contain('leads nowhere in body');
      }),
    );
  });
});
