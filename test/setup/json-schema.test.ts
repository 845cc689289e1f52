import { globSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { parse } from 'yaml';
import { type Setting, type SettingSchema, settingKeys, settingsOf } from '../../scripts/settings/setting-list.ts';
import { staleFiles } from '../../scripts/settings/write.ts';
import { SLICES } from '../../src/composition.ts';
import { RESOURCES } from '../../src/core/resources/index.ts';
import { settingsJsonSchema } from '../../src/setup/json-schema.ts';
import { UPSTREAMS } from '../core/config/settings-file.ts';

describe('the JSON Schema of settings', () => {
  const text = settingsJsonSchema(RESOURCES, SLICES);
  const schema: SettingSchema = JSON.parse(text);
  const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true, formats: { uri: URL.canParse } });
  const validate = ajv.compile(schema);
  const isValid = (yaml: string): boolean => validate(parse(yaml));

  it('is what config/schema.json, config/default.yaml and docs/configuration.md are generated from (npm run settings)', () => {
    expect(staleFiles()).to.deep.equal([]);
  });

  it('has at most 184 keys, counted as a person reads them', () => {
    expect(settingKeys()).to.have.length.at.most(184);
  });

  for (const file of globSync('config/**/*.yaml').sort()) {
    it(`fits ${file}, which names it in its first line`, () => {
      const yaml = readFileSync(file, 'utf8');
      expect(isValid(yaml), JSON.stringify(validate.errors)).to.equal(true);
      const path = file.includes('examples') ? '../schema.json' : './schema.json';
      expect(yaml.split('\n')[0]).to.equal(`# yaml-language-server: $schema=${path}`);
    });
  }

  it('describes every setting', () => {
    const settings = settingsOf(schema);
    expect(settings).to.have.length.greaterThan(100);
    expect(settings.filter(({ schema: { description = '' } }) => !/^[A-Z].*\.$/.test(description))).to.deep.equal([]);
  });

  it('refuses what the program refuses', () => {
    for (const yaml of [
      ...['scheme: a', `http: { prot: 1 }\n${UPSTREAMS}`, `http: { port: "80" }\n${UPSTREAMS}`],
      ...[`http: { port: 70000 }\n${UPSTREAMS}`, `http: { port: 1.5 }\n${UPSTREAMS}`],
      ...[`log: { level: loud }\n${UPSTREAMS}`, `scheme: 5\n${UPSTREAMS}`],
      `resources: { tools: { pagination: { kind: page, tokenParam: a } } }\n${UPSTREAMS}`,
      `resources: { tools: { fields: { nme: a } } }\n${UPSTREAMS}`,
      'upstreams: { "a b": { baseUrl: https://a.example } }',
      'upstreams: { a: { baseUrl: https://a.example, credential: { kind: header } } }',
    ]) {
      expect(isValid(yaml), yaml).to.equal(false);
    }
  });

  it('allows a reference to the environment for every scalar', () => {
    const scalars = settingsOf(schema).filter(isScalar);
    expect(scalars).to.have.length.greaterThan(90);
    const own = new Map(scalars.map((setting) => [JSON.stringify(setting.schema), setting]));
    for (const { block, key, schema: ofSetting } of own.values()) {
      const allows = ajv.compile({ ...ofSetting, $defs: schema.$defs });
      for (const reference of [`\${A}`, `\${A_1:-b}`, `x\${A}y`]) {
        expect(allows(reference), `${block} ${key}: ${reference}`).to.equal(true);
      }
    }
    // With it, a block fits several kinds.
    const credential = '{ kind: "${A}", secret: a }';
    expect(isValid(`upstreams: { tools: { baseUrl: https://a.example, credential: ${credential} } }`)).to.equal(true);
  });

  it('allows none that is malformed where text would not do', () => {
    for (const value of ['${}', '${A', '$A', '{A}', '${1}']) {
      expect(validate({ ...parse(UPSTREAMS), http: { port: value } }), value).to.equal(false);
    }
  });
});

/** Blocks, and names of lists, of resources and of fields. */
const COMPOUND =
  /^(?:pagination|fields|credential|client|second|each|tls|proxy|body|headers|query|values|projects|workflows|tools)$/;

function isScalar({ key, block, schema }: Setting): boolean {
  return (
    block !== '' &&
    !block.endsWith('fields') &&
    !COMPOUND.test(key) &&
    schema.type !== 'array' &&
    schema.properties === undefined
  );
}
