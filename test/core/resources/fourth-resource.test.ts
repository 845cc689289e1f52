import { expect } from 'chai';
import { settingsJsonSchema } from '../../../src/setup/json-schema.ts';
import { parseConfig } from '../../support/limits.ts';
import { FOUR } from './findings.ts';

const UPSTREAM = { baseUrl: 'http://127.0.0.1:1' };
const BOTH = { tools: UPSTREAM, findings: UPSTREAM };
const fields = (more: object) => ({ upstreams: BOTH, resources: { findings: { fields: more } } });

describe('a fourth resource in the registry', () => {
  it('has settings as every other, in the schema for editors too', () => {
    const { findings } = JSON.parse(settingsJsonSchema(FOUR)).properties.resources.properties;
    expect(findings.properties.path.default).to.equal('/v1/findings');
    expect(Object.keys(findings.properties.fields.properties)).to.deep.equal(['id', 'name', 'severity', 'foundAt']);
    // The types of this repository name three.
    const parse = (settings: object) => () => parseConfig(settings as never, FOUR);
    expect(parse(fields({ severity: 'level' }))).not.to.throw();
    const unknown = 'resources.findings.fields.sevrity: Unrecognized key; did you mean severity?';
    expect(parse(fields({ sevrity: 'level' }))).to.throw(unknown);
    const misspelt = 'upstreams.finding: is not the upstream of any resource; did you mean findings?';
    expect(parse({ upstreams: { tools: UPSTREAM, finding: UPSTREAM } })).to.throw(misspelt);
  });
});
