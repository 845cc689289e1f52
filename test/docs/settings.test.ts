import { expect } from 'chai';
import { LIMIT_ROWS } from '../../src/core/kernel/limits.ts';
import { documentation, readDoc } from '../support/docs.ts';
import { exists, SCHEMA, type Schema } from '../support/settings-schema.ts';

const FILE_NAME = /\.(?:html|json|md|ts|yaml)$/;
const QUOTED = /(?<!\bbounds? )`([A-Za-z]\w*(?:\.(?:<\w+>|\w+))*)`/g;

/** Pages that name removed settings, or the bounds themselves. */
const EXEMPT = ['CHANGELOG.md', 'docs/reference.md'];

const bounds = new Set(LIMIT_ROWS.flatMap(({ part, name }) => [name, `${part}.${name}`]));
const blocks = Object.keys(SCHEMA.properties ?? {});
const keys = new Set(namesIn(SCHEMA));

describe('the settings in the documentation', () => {
  for (const page of documentation().filter((file) => !EXEMPT.includes(file))) {
    const named = quotedIn(page);

    it(`exist: ${page}`, () => {
      const paths = named.filter((name) => name.includes('.') && blocks.includes(name.split('.')[0] ?? ''));
      expect(paths.filter((path) => !exists(SCHEMA, path.split('.')))).to.deep.equal([]);
    });

    it(`are not constants, which are called bounds: ${page}`, () => {
      expect(
        named.filter((name) => bounds.has(name) && !keys.has(name) && !exists(SCHEMA, name.split('.'))),
      ).to.deep.equal([]);
    });
  }
});

function quotedIn(page: string): string[] {
  const text = readDoc(page).replaceAll(/^```.*?^```$/gms, '');
  return [...text.matchAll(QUOTED)].map(([, name = '']) => name).filter((name) => !FILE_NAME.test(name));
}

function namesIn({ properties = {}, additionalProperties, anyOf = [] }: Schema): string[] {
  const variants = typeof additionalProperties === 'object' ? [additionalProperties, ...anyOf] : anyOf;
  return [
    ...Object.entries(properties).flatMap(([name, child]) => [name, ...namesIn(child)]),
    ...variants.flatMap(namesIn),
  ];
}
