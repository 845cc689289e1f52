import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { settingsOf } from '../../scripts/settings/setting-list.ts';
import { SLICES } from '../../src/composition.ts';
import { RESOURCES } from '../../src/core/resources/index.ts';
import { settingsJsonSchema } from '../../src/setup/json-schema.ts';
import { load } from '../core/config/settings-file.ts';
import { codeBlocks } from '../support/docs.ts';

const FILE = 'docs/credentials.md';
const PAGE = readFileSync(FILE, 'utf8');

describe('docs/credentials.md', () => {
  it('describes exactly the kinds of credentials that exist', () => {
    const kinds = settingsOf(JSON.parse(settingsJsonSchema(RESOURCES, SLICES))).flatMap(
      ({ block }) => /^upstreams\.<name>\.credential of kind ([\w-]+)$/.exec(block)?.[1] ?? [],
    );
    const told = [...PAGE.matchAll(/^\| \[`([\w-]+)`\]/gm)].map(([, kind]) => kind);
    expect(told).to.have.members([...new Set(kinds)]);
  });

  it('has settings that are valid, and rejected without allowUnverifiedCallers', async () => {
    const [mixed = ''] = codeBlocks(FILE, 'yaml');
    const { config } = await load(mixed);
    expect(config.upstreams['shared']?.credential).to.include({ kind: 'service', name: 'X-Api-Key' });
    const refused = await load(mixed.replace('allowUnverifiedCallers: true\n', '')).catch(String);
    expect(refused).to.contain('service gives every caller the same access');
  });
});
