import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Ajv } from 'ajv';
import { expect } from 'chai';
import { TOOL_NAMES } from '../support/resources.ts';

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const json = (file: string) => JSON.parse(read(file));
const { version, name, mcpName, engines, devDependencies } = json('package.json');
const server = json('server.json');
const manifest = json('bundle/manifest.json');
const dockerfile = read('Dockerfile');

describe('package.json, server.json, the bundle and the image', () => {
  it('have one version, one name in the MCP registry, and one on npm', () => {
    expect([server.version, server.packages[0].version, manifest.version]).to.deep.equal([version, version, version]);
    expect(server.packages[0].identifier).to.equal(name);
    expect(server.name).to.equal(mcpName);
    expect(dockerfile).to.contain(`org.opencontainers.image.version="${version}"`).and.contain(`"${mcpName}"`);
  });

  it('need the same Node', () => {
    expect(manifest.compatibility.runtimes.node).to.equal(engines.node);
    const [node = ''] = devDependencies.node.match(/\d[\d.]*/) ?? [];
    expect(dockerfile.match(/^FROM node:[^@\s]+/gm)).to.deep.equal([
      `FROM node:${node}-slim`,
      `FROM node:${node}-slim`,
    ]);
  });

  it('ask for the token as a secret', () => {
    const [{ environmentVariables }] = server.packages;
    expect(environmentVariables).to.have.length(1);
    expect(environmentVariables[0]).to.include({ name: 'PORTICO_TOKEN', isSecret: true, isRequired: true });
    expect(manifest.user_config.token).to.include({ type: 'string', sensitive: true, required: true });
  });
});

describe('the manifest of the bundle', () => {
  it('complies with its schema, and names a tool for each resource', () => {
    const schema = createRequire(import.meta.url).resolve('@anthropic-ai/mcpb/mcpb-manifest-v0.3.schema.json');
    const ajv = new Ajv({ strict: true, formats: { uri: URL.canParse, email: true } });
    const validate = ajv.compile(JSON.parse(readFileSync(schema, 'utf8')));
    expect(validate(manifest), JSON.stringify(validate.errors)).to.equal(true);
    expect(manifest.tools.map((tool: { name: string }) => tool.name)).to.deep.equal(TOOL_NAMES);
  });
});
