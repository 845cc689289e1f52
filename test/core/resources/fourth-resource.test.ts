import { expect } from 'chai';
import { loadSettings } from '../../../src/composition.ts';
import { ConfigError } from '../../../src/core/config/config-error.ts';
import { settingsJsonSchema } from '../../../src/core/config/json-schema.ts';
import type { SettingsInput } from '../../../src/core/config/schema/settings.ts';
import { createCore } from '../../../src/core/core.ts';
import { parseConfig } from '../../support/limits.ts';
import { NAMES } from '../../support/resources.ts';
import { FOUR } from './findings.ts';

const UPSTREAM = { baseUrl: 'http://127.0.0.1:1' };

/** Settings that name the fourth resource: the types of this house know three. */
const withFindings = (settings: object): SettingsInput => settings as SettingsInput;

describe('a fourth resource in the registry', () => {
  it('changes nothing for a settings file from before it', async () => {
    const urls = Object.fromEntries(NAMES.map((name) => [`${name.toUpperCase()}_URL`, 'https://platform.example']));
    const { config: before } = await loadSettings('config/default.yaml', urls);
    const { config } = await loadSettings('config/default.yaml', urls, FOUR);
    expect(config.resources).to.deep.include(before.resources);
    const uris = (resources: typeof FOUR | undefined) => {
      const { catalogue } = createCore(resources === undefined ? before : config, {
        events: {},
        now: Date.now,
        ...(resources && { resources }),
      });
      return catalogue.offered.map(({ definition }) => definition.uri);
    };
    expect(uris(FOUR)).to.deep.equal(uris(undefined)).and.have.length(NAMES.length);
  });

  it('has settings as every other, in the schema for editors too', () => {
    const { findings } = JSON.parse(settingsJsonSchema(FOUR)).properties.resources.properties;
    expect(findings.properties.path.default).to.equal('/v1/findings');
    expect(Object.keys(findings.properties.fields.properties)).to.deep.equal(['id', 'name', 'severity', 'foundAt']);
    const issues = (settings: object) => {
      try {
        parseConfig(withFindings(settings), FOUR);
        return [];
      } catch (error) {
        return error instanceof ConfigError ? error.message.split('\n') : [error];
      }
    };
    const upstreams = { tools: UPSTREAM, findings: UPSTREAM };
    expect(
      issues({ upstreams, resources: { findings: { fields: { severity: 'level' }, cache: { ttlMs: 5 } } } }),
    ).to.deep.equal([]);
    expect(issues({ upstreams, resources: { findings: { fields: { sevrity: 'level' } } } })).to.deep.equal([
      'resources.findings.fields.sevrity: unknown key; did you mean severity?',
    ]);
    expect(issues({ upstreams: { tools: UPSTREAM, finding: UPSTREAM } })).to.deep.equal([
      'upstreams.finding: is the upstream of no resource; did you mean findings?',
    ]);
  });
});
