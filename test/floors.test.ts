import { appendFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractDepcruiseOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';
import { newFolder } from './support/process/process.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const RULES = join(ROOT, '.dependency-cruiser.mjs');
const options = await extractDepcruiseOptions(RULES);

/** One import: which file, of what, and what is in the imported file. */
type Plant = readonly [importer: string, specifier: string, imported?: string];

const PLANTS: Readonly<Record<string, readonly Plant[]>> = {
  'core-knows-no-capability': [
    ['src/core/http/a.ts', '../../capabilities/metrics/b.ts'],
    ['src/core/a.ts', '../capabilities/capability.ts'],
    ['src/core/reads/a.ts', '../../demo/b.ts'],
  ],
  'capabilities-never-each-other': [
    ['src/capabilities/metrics/a.ts', '../tracing/b.ts'],
    ['src/capabilities/metrics/a.ts', '../../setup/b.ts'],
  ],
  'capabilities-are-named-once': [['src/gateway.ts', './capabilities/metrics/b.ts']],
  'only-the-composition-lists': [
    ['src/main.ts', './capabilities/index.ts'],
    ['src/commands/a.ts', '../capabilities/compose.ts'],
  ],
  'edges-never-each-other': [
    ['src/core/http/a.ts', '../mcp/b.ts'],
    ['src/core/mcp/a.ts', '../http/b.ts'],
  ],
  'edges-know-the-reads': [
    ['src/core/http/a.ts', '../upstream/b.ts'],
    ['src/core/http/a.ts', '../mapping/b.ts'],
    ['src/core/mcp/a.ts', '../config/schema/b.ts'],
  ],
  'reads-know-rooms-below': [['src/core/reads/a.ts', '../http/b.ts']],
  'rooms-stand-alone': [
    ['src/core/upstream/paging/a.ts', '../../mapping/b.ts'],
    ['src/core/mapping/a.ts', '../resources/b.ts'],
    ['src/core/resources/a.ts', '../config/b.ts'],
    ['src/core/credentials/a.ts', '../reads/b.ts'],
    ['src/core/log/a.ts', '../http/b.ts'],
  ],
  'data-and-mapping-do-no-io': [
    ['src/core/resources/a.ts', 'node:fs/promises'],
    ['src/core/mapping/a.ts', 'node:http'],
  ],
  'kernel-knows-nothing': [['src/core/kernel/a.ts', '../log/b.ts']],
  'config-knows-data-only': [['src/core/config/a.ts', '../upstream/b.ts']],
  'rooms-know-no-composition': [['src/core/http/a.ts', '../core.ts']],
  'setup-knows-the-core': [
    ['src/setup/a.ts', '../demo/b.ts'],
    ['src/setup/a.ts', '../gateway.ts'],
  ],
  'demo-shares-no-code': [['src/demo/a.ts', '../core/mapping/b.ts']],
  'root-files-on-top': [
    ['src/core/http/a.ts', '../../gateway.ts'],
    ['src/core/a.ts', '../gateway.ts'],
  ],
  'commands-are-started-by-main': [['src/gateway.ts', './commands/b.ts']],
  'testing-is-for-tests': [
    ['src/gateway.ts', './testing/b.ts'],
    ['src/commands/a.ts', '../testing/b.ts'],
  ],
  'main-is-the-entry': [
    ['src/commands/a.ts', '../main.ts'],
    ['src/gateway.ts', './main.ts'],
    ['test/a.test.ts', '../src/main.ts'],
  ],
  'nothing-from-outside': [
    ['src/main.ts', './utils/b.ts'],
    ['src/core/core.ts', './utils/b.ts'],
  ],
  'home-of-undici': [['src/core/http/a.ts', 'undici']],
  'home-of-jose': [['src/core/upstream/a.ts', 'jose']],
  'home-of-opossum': [['src/core/reads/a.ts', 'opossum']],
  'home-of-openid-client': [['src/core/upstream/a.ts', 'openid-client']],
  'home-of-lru-cache': [['src/core/upstream/a.ts', 'lru-cache']],
  'home-of-jmespath-community-jmespath': [['src/core/upstream/a.ts', '@jmespath-community/jmespath']],
  'home-of-koa': [['src/core/mcp/a.ts', 'koa']],
  'home-of-koa-router': [['src/main.ts', '@koa/router']],
  'home-of-negotiator': [['src/core/mcp/a.ts', 'negotiator']],
  'home-of-redis-client': [['src/core/reads/a.ts', '@redis/client']],
  'home-of-opentelemetry': [['src/core/http/a.ts', '@opentelemetry/api']],
  'home-of-yaml': [['src/main.ts', 'yaml']],
  'home-of-pino': [['src/core/kernel/a.ts', 'pino']],
  'home-of-prom-client': [['src/core/log/a.ts', 'prom-client']],
  'home-of-zod': [['src/core/upstream/a.ts', 'zod']],
  'no-homeless-package': [['src/core/http/a.ts', 'declared']],
  'no-dev-package': [['src/core/http/a.ts', 'declared-for-development']],
  'no-undeclared-package': [
    ['src/core/http/a.ts', 'undeclared'],
    ['test/a.test.ts', 'undeclared'],
  ],
  'sources-ship-alone': [
    ['src/core/http/a.ts', '../../../test/support/b.ts'],
    ['src/main.ts', '../bench/b.ts'],
  ],
  'no-circle': [['src/core/http/a.ts', './b.ts', "import './a.ts';\n"]],
  'no-orphan': [['src/core/http/a.ts', '']],
  'no-unresolvable': [
    ['src/core/http/a.ts', './missing.ts'],
    ['test/a.test.ts', 'missing'],
  ],
};

const MISSING = ['missing', './missing.ts'];
/** Packages that the tree declares: those that have a home, and one that has none. */
const DECLARED = Object.entries(PLANTS).flatMap(([rule, plants]) =>
  /^home-of-|^no-homeless-package$/.test(rule) ? plants.map(([, specifier]) => specifier) : [],
);

/** Adds a text to the end of a file, which is there afterwards. */
async function write(folder: string, file: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, file)), { recursive: true });
  await appendFile(join(folder, file), text);
}

/** Adds one import to a tree, of a file or package that is there unless it is called missing. */
async function plant(
  folder: string,
  [importer, specifier, text = 'export type Planted = number;\n']: Plant,
  form: (of: string) => string,
): Promise<void> {
  if (specifier.startsWith('.')) {
    if (!MISSING.includes(specifier)) await write(folder, posix.join(posix.dirname(importer), specifier), text);
  } else if (specifier !== '' && !specifier.startsWith('node:') && !MISSING.includes(specifier)) {
    const home = `node_modules/${specifier}`;
    await write(folder, `${home}/index.js`, '');
    await writeFile(join(folder, home, 'package.json'), JSON.stringify({ name: specifier, exports: './index.js' }));
  }
  await write(folder, importer, specifier === '' ? '' : form(specifier));
}

const importValue = (specifier: string) => `import * as planted from '${specifier}';\nplanted;\n`;

const FORMS: Readonly<Record<string, (specifier: string) => string>> = {
  'imports of types': (specifier) => `import type { Planted } from '${specifier}';\nexport const one: Planted = 1;\n`,
  'imports of values that are types': (specifier) => `import { type Planted } from '${specifier}';\n`,
  're-exports': (specifier) => `export * from '${specifier}';\n`,
  're-exports of types': (specifier) => `export type { Planted } from '${specifier}';\n`,
  'imports that run later': (specifier) => `export const later = () => import('${specifier}');\n`,
};

async function cruised(folder: string, folders: string[]): Promise<ICruiseResult> {
  const { output } = await cruise(folders, { ...options, baseDir: folder });
  return output as ICruiseResult;
}

describe('the floors', () => {
  /** Rules that the files of a tree with all plants break. */
  const broken = new Map<string, readonly string[]>();
  /** Each importer that is no file of its own in every tree has a name of its own in this one. */
  const numbered = (file: string, index: number) => file.replace(/\ba\.(?=(?:test\.)?ts$)/, `a${index}.`);
  const all = Object.entries(PLANTS).flatMap(([rule, plants]) => plants.map((each) => ({ rule, each })));
  const planted = all.map(({ rule, each: [importer, specifier, text] }, index) => ({
    ...{ rule, importer: numbered(importer, index), specifier },
    text: text?.replace('a.ts', `a${index}.ts`),
  }));

  before(async () => {
    const folder = await newFolder();
    const versions = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, '1.0.0']));
    const dependencies = {
      dependencies: versions(DECLARED),
      devDependencies: versions(['declared-for-development']),
    };
    await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module', ...dependencies }));
    for (const { importer, specifier, text } of planted) {
      await plant(folder, text === undefined ? [importer, specifier] : [importer, specifier, text], importValue);
    }
    for (const [index, form] of Object.values(FORMS).entries()) {
      await plant(folder, [`src/core/http/form${index}.ts`, '../mcp/b.ts'], form);
    }
    const { summary } = await cruised(folder, ['src', 'test']);
    for (const { from, rule } of summary.violations) broken.set(from, [...(broken.get(from) ?? []), rule.name]);
  });

  for (const { rule, importer, specifier } of planted) {
    it(`${rule}: ${importer} may not import ${specifier || 'nothing and be imported by nothing'}`, () => {
      const expected = planted.filter((each) => each.importer === importer).map((each) => each.rule);
      expect(broken.get(importer)).to.have.members(expected);
    });
  }

  for (const [index, name] of Object.keys(FORMS).entries()) {
    it(`hold for ${name}`, () => {
      expect(broken.get(`src/core/http/form${index}.ts`)).to.deep.equal(['edges-never-each-other']);
    });
  }

  it('have a planted violation of every rule, and every rule says why it is there', () => {
    const rules = options.ruleSet?.forbidden ?? [];
    expect(rules.map((rule) => rule.name)).to.have.members(Object.keys(PLANTS));
    expect(rules.filter((rule) => (rule.comment ?? '') === '')).to.deep.equal([]);
  });

  it('have files whose base names are unique, each of which they are held against', async () => {
    const files = await readdir(join(ROOT, 'src'), { recursive: true });
    const sources = files.filter((file) => file.endsWith('.ts'));
    const names = sources.map((file) => posix.basename(file)).filter((name) => name !== 'index.ts');
    expect(names.filter((name, index) => names.indexOf(name) !== index)).to.deep.equal([]);
    const { modules } = await cruised(ROOT, ['src']);
    expect(modules.map((module) => module.source)).to.include.members(sources.map((file) => posix.join('src', file)));
    const imports = modules.flatMap((module) => module.dependencies);
    expect(imports).to.have.length.above(sources.length);
  });
});
