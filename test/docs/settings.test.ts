import { expect } from 'chai';
import { LIMIT_ROWS } from '../../src/core/kernel/limits.ts';
import { load } from '../core/config/settings-file.ts';
import { codeBlocks, documentation, readDoc } from '../support/docs.ts';
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

/** Samples of settings, fenced or indented. A credential is put into an upstream. */
function samplesOn(page: string): string[] {
  const indented = readDoc(page)
    .replaceAll(/^```.*?^```$/gms, '')
    .match(/(?:^ {4}\S.*\n)(?:^ {4}.*\n)*/gm);
  const texts = [...codeBlocks(page, 'yaml'), ...(indented ?? [])].map((text) => {
    return text.replaceAll(/^#.*\n/gm, '').replaceAll(/^ {4}/gm, text.startsWith('    ') ? '' : '$&');
  });
  return texts.flatMap((text) => {
    const [key = ''] = /^\w+(?=:)/.exec(text) ?? [];
    if (blocks.includes(key)) return [text];
    if (key !== 'credential') return [];
    return text.split(/^(?=credential:)/m).map((one) => {
      const inUpstream = one.replaceAll(/^(?=.)/gm, '    ');
      return `allowUnverifiedCallers: true\nupstreams:\n  projects:\n    baseUrl: https://a.example\n${inUpstream}`;
    });
  });
}

const ENVIRONMENT = { ADMIN_PORT: '9091', ACME_PASSWORD: 'secret' };

describe('the samples of settings in the documentation', () => {
  for (const page of documentation().filter((file) => /^(?:README|docs\/\w)/.test(file))) {
    for (const [index, text] of samplesOn(page).entries()) {
      // The page shows what is wrong with this one.
      if (text.includes('prot: 8080')) continue;
      it(`are valid: ${page}, ${index + 1}`, async () => {
        const named = [...text.matchAll(/upstream: (\w+)/g)].map(([, name = '']) => name);
        const names = named.length > 0 ? new Set(named) : ['projects', 'workflows', 'tools'];
        const upstreams = [...names].map((name) => `  ${name}: { baseUrl: https://a.example }\n`).join('');
        await load(/^upstreams:/m.test(text) ? text : `${text}\nupstreams:\n${upstreams}`, ENVIRONMENT);
      });
    }
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
