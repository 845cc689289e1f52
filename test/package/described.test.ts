import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Ajv } from 'ajv';
import { expect } from 'chai';
import { labelsIn } from '../support/process/dockerfile.ts';
import { TOOL_NAMES } from '../support/resources.ts';
import { serverJson } from './server-json-rules.ts';

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const json = (file: string) => JSON.parse(read(file));
const packageJson = json('package.json');

describe('server.json', () => {
  const server = json('server.json');

  it('complies with its schema', () => {
    expect(serverJson.safeParse(server).error).to.equal(undefined);
  });

  for (const [what, broken] of [
    ['a name without a namespace', { ...server, name: 'portico' }],
    ['a description of more than 100 characters', { ...server, description: 'a'.repeat(101) }],
    ['a range of versions', { ...server, version: '^0.1.0' }],
    ['a misspelt key', { ...server, tittle: 'Portico' }],
    ['a package without a transport', { ...server, packages: [{ ...server.packages[0], transport: undefined }] }],
  ] as const) {
    it(`is rejected with ${what}`, () => {
      expect(serverJson.safeParse(broken).success).to.equal(false);
    });
  }

  it('marks the token as a secret', () => {
    const [{ environmentVariables }] = server.packages;
    expect(environmentVariables).to.have.length(1);
    expect(environmentVariables[0]).to.include({ name: 'PORTICO_TOKEN', isSecret: true, isRequired: true });
  });
});

describe('the manifest of the bundle', () => {
  const manifest = json('bundle/manifest.json');
  const schema = createRequire(import.meta.url).resolve('@anthropic-ai/mcpb/mcpb-manifest-v0.3.schema.json');
  const validate = new Ajv({ strict: true, formats: { uri: URL.canParse, email: true } }).compile(
    JSON.parse(readFileSync(schema, 'utf8')),
  );

  it('complies with its schema', () => {
    expect(validate(manifest), JSON.stringify(validate.errors)).to.equal(true);
    expect(validate({ ...manifest, user_config: { token: { type: 'secret' } } })).to.equal(false);
  });

  it('makes clients prompt for the token and store it as a secret', () => {
    expect(manifest.user_config.token).to.include({ type: 'string', sensitive: true, required: true });
    expect(manifest.server.mcp_config.env).to.deep.equal({ PORTICO_TOKEN: '${user_config.token}' });
    expect(manifest.server.mcp_config.args.slice(1)).to.deep.equal(['stdio', '${user_config.settings}']);
  });

  it('names a tool for each resource', () => {
    const names = manifest.tools.map(({ name }: { name: string }) => name);
    expect(names).to.deep.equal(TOOL_NAMES);
  });

  it('requires the Node version of package.json', () => {
    expect(manifest.compatibility.runtimes.node).to.equal(packageJson.engines.node);
  });
});

describe('the labels of the image', () => {
  const labels = labelsIn(read('Dockerfile'));

  /** Keys that the OCI image specification defines (annotations.md), without the prefix. */
  const DEFINED = [
    ...['authors', 'base.digest', 'base.name', 'created', 'description', 'documentation', 'licenses', 'ref.name'],
    ...['revision', 'source', 'title', 'url', 'vendor', 'version'],
  ];
  const PREFIX = 'org.opencontainers.image.';

  it('are OCI annotations, and the name in the MCP registry', () => {
    const keys = DEFINED.map((key) => `${PREFIX}${key}`);
    expect([...keys, 'io.modelcontextprotocol.server.name']).to.include.members(Object.keys(labels));
  });

  it('have the values of package.json', () => {
    const { version, license, description } = packageJson;
    expect(labels).to.include({
      [`${PREFIX}version`]: version,
      [`${PREFIX}licenses`]: license,
      [`${PREFIX}description`]: description,
    });
  });

  it('name the base image', () => {
    const [version = ''] = packageJson.devDependencies.node.match(/\d[\d.]*/) ?? [];
    expect(labels[`${PREFIX}base.name`]).to.equal(`docker.io/library/node:${version}-slim`);
    expect(read('Dockerfile').match(/^FROM node:[^@\s]+/gm)).to.deep.equal([
      `FROM node:${version}-slim`,
      `FROM node:${version}-slim`,
    ]);
  });
});

describe('package.json, server.json, the bundle and the image', () => {
  const server = json('server.json');

  it('have one version', () => {
    const versions = [server.version, server.packages[0].version, json('bundle/manifest.json').version];
    expect(versions).to.deep.equal(versions.map(() => packageJson.version));
  });

  it('have one name in the MCP registry, and one on npm', () => {
    const { 'io.modelcontextprotocol.server.name': ofImage } = labelsIn(read('Dockerfile'));
    expect([packageJson.mcpName, ofImage]).to.deep.equal([server.name, server.name]);
    expect(server.packages[0].identifier).to.equal(packageJson.name);
  });
});
