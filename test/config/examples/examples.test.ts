import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

const root = new URL('../../../', import.meta.url);
const text = (path: string) => readFileSync(new URL(path, root), 'utf8');
const folder = 'config/examples/';
const files = readdirSync(new URL(folder, root));

describe('the examples', () => {
  it('are at least eight', () => {
    expect(files).to.have.length.of.at.least(8);
  });

  for (const file of files) {
    const yaml = text(folder + file);
    const header = yaml.slice(0, yaml.indexOf('\n\n'));

    it(`name their schema for editors first: ${file}`, () => {
      expect(yaml.split('\n')[0]).to.equal('# yaml-language-server: $schema=../schema.json');
    });

    it(`say at their head which environment variables they take, and no others: ${file}`, () => {
      const taken = [...yaml.matchAll(/\$\{(\w+)/g)].map(([, name]) => name);
      const told = [...header.matchAll(/^# {3}([A-Z][A-Z0-9_]+) /gm)].map(([, name]) => name);
      expect(new Set(taken)).to.deep.equal(new Set(told));
    });

    it(`say at their head where the platform's API is described, in which state: ${file}`, () => {
      const [, described = ''] = /^# (Described (?:in|at) [\s\S]*?)\n#\n/m.exec(header) ?? [];
      expect(described).to.match(/\d{4}-\d\d-\d\d|\b[0-9a-f]{7}\b|\bAPI v\d\b/);
    });

    it(`have a contract test: ${file}`, () => {
      expect(existsSync(new URL(`test/${folder}${file.replace('.yaml', '.test.ts')}`, root))).to.equal(true);
    });
  }

  it('are those of docs/examples.md, all and no others', () => {
    const linked = [...text('docs/examples.md').matchAll(/\(\.\.\/config\/examples\/([^)]+)\)/g)].map(
      ([, file]) => file,
    );
    expect([...new Set(linked)].sort()).to.deep.equal(files.sort());
  });
});
