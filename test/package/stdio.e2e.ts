import { readFile, writeFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { getMcpConfigForManifest, unpackExtension } from '@anthropic-ai/mcpb';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect } from 'chai';
import { TOKEN } from '../support/gateway.ts';
import { type HttpUpstream, json, lists, startHttpUpstream, tokenOf } from '../support/platform/http-upstream.ts';
import { filesBelow } from '../support/process/files.ts';
import { newFolder } from '../support/process/process.ts';
import { TOOL_NAMES } from '../support/resources.ts';
import { needsRegistry, runTool, toolEnvironment } from '../support/tools.ts';
import { type Packed, pack, ROOT } from './packed.ts';

const PROJECT = { id: 'p-1', name: 'One', description: '', createTime: '' };
const FOUND = { tools: TOOL_NAMES, projects: [PROJECT] };

interface StdioServer {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Record<string, string>;
  readonly cwd: string;
}

/** What a client finds: the tools, and the first resource. */
async function lookAround(server: StdioServer): Promise<{ tools: string[]; projects: unknown }> {
  const client = new Client({ name: 'test', version: '0' });
  await client.connect(new StdioClientTransport({ ...server, args: [...server.args], stderr: 'ignore' }));
  try {
    const { tools } = await client.listTools();
    const { contents } = await client.readResource({ uri: 'platform://projects' });
    const [content = {}] = contents;
    const text = 'text' in content ? String(content.text) : 'null';
    return { tools: tools.map(({ name }) => name), projects: JSON.parse(text) };
  } finally {
    await client.close();
  }
}

describe('portico stdio, as clients install it', function () {
  this.timeout(300_000);
  let packed: Packed;
  let bundle: string;
  let platform: HttpUpstream;
  let settings: string;

  before(async function () {
    await needsRegistry(this);
    packed = await pack();
    platform = await startHttpUpstream((request, response) => {
      const answer = tokenOf(request) === TOKEN ? lists({ projects: [PROJECT] }) : json({}, 401);
      answer(request, response);
    });
    // A name that a shell would split.
    const folder = await newFolder('settings of a client');
    settings = join(folder, 'portico.yaml');
    const names = ['projects', 'workflows', 'tools'];
    await writeFile(
      settings,
      `upstreams:\n${names.map((name) => `  ${name}: { baseUrl: ${platform.url} }\n`).join('')}`,
    );
    const file = join(await newFolder(), 'portico.mcpb');
    await runTool('npm', ['run', 'bundle', '--', file], packed.clone);
    bundle = await newFolder();
    expect(await unpackExtension({ mcpbPath: file, outputDir: bundle, silent: true })).to.equal(true);
  });

  after(() => platform?.close());

  it('is bundled with what runs, in the locked versions, and nothing else', async () => {
    const files = await filesBelow(bundle);
    const server = files.filter((file) => file.startsWith('server/') && !file.startsWith('server/node_modules/'));
    // Types, source maps and the shrinkwrap are left out: nothing is compiled or installed there.
    const expected = packed.files
      .filter((file) => !/(\.d\.ts|\.map|^npm-shrinkwrap\.json)$/.test(file))
      .map((file) => `server/${file}`);
    expect(server).to.have.members(expected);
    expect(files.filter((file) => !file.startsWith('server/'))).to.deep.equal(['manifest.json']);

    const lock = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')).packages;
    const wanted = Object.entries<{ dev?: boolean; version: string }>(lock)
      .filter(([path, { dev }]) => path !== '' && dev !== true)
      .map(([path, { version }]) => `${path} ${version}`);
    const manifests = files.filter((file) => /^server\/(node_modules\/(@[^/]+\/)?[^/@]+\/)+package\.json$/.test(file));
    const found = manifests.map(async (file) => {
      const { version } = JSON.parse(await readFile(join(bundle, file), 'utf8'));
      return `${file.slice('server/'.length, -'/package.json'.length)} ${version}`;
    });
    expect(await Promise.all(found)).to.have.members(wanted);
  });

  it("starts from the bundle, with the user's token and settings file", async () => {
    const cwd = await newFolder();
    const manifest = JSON.parse(await readFile(join(bundle, 'manifest.json'), 'utf8'));
    const options = { manifest, extensionPath: bundle, systemDirs: {}, pathSeparator: sep };
    expect(await getMcpConfigForManifest({ ...options, userConfig: { settings } })).to.equal(undefined);
    const config = await getMcpConfigForManifest({ ...options, userConfig: { settings, token: TOKEN } });
    const { command = '', args = [], env = {} } = config ?? {};
    expect(args.join(' ')).not.to.contain(TOKEN);
    expect(
      await lookAround({ command, args, env: { PATH: toolEnvironment()['PATH'] ?? '', ...env }, cwd }),
    ).to.deep.equal(FOUND);
  });

  it('starts from the package with the arguments of server.json', async () => {
    const cwd = await newFolder();
    const { packages } = JSON.parse(await readFile(join(ROOT, 'server.json'), 'utf8'));
    const [{ runtimeHint, identifier, packageArguments, environmentVariables }] = packages;
    const args = packageArguments.map(({ value = settings }: Record<string, string>) => value);
    const env = Object.fromEntries(environmentVariables.map(({ name }: { name: string }) => [name, TOKEN]));
    const found = await lookAround({
      command: runtimeHint,
      args: ['--yes', '--package', packed.tarball, identifier, ...args],
      env: toolEnvironment(env) as Record<string, string>,
      cwd,
    });
    expect(found).to.deep.equal(FOUND);
  });
});
