import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { z } from 'zod';
import type { Server } from '../core/mcp/clients/client.ts';
import { sdkV1 } from '../core/mcp/clients/sdk-v1.ts';
import { type Served, serve } from '../core/mcp/clients/served.ts';
import { codeBlocks, codeBlocksBut } from '../support/docs.ts';
import { TOKEN } from '../support/gateway.ts';
import { newFolder } from '../support/process/serving.ts';
import { skipAloud } from '../support/tools.ts';
import { createPageShell, type PageShell } from './page-shell.ts';

const PAGE = 'docs/clients.md';
const ADDRESS = 'http://127.0.0.1:8080/mcp';
const CONFIG = '/path/to/portico.yaml';

/** How clients write "the token here": as it is, from the environment, or from a question. */
const TOKEN_PLACES = /your-token|\$\{(?:env:)?PORTICO_TOKEN\}|\$\{input:portico-token\}/;

const entry = z.union([
  z.strictObject({
    type: z.literal('http').optional(),
    url: z.literal(ADDRESS),
    headers: z.strictObject({ Authorization: z.string() }),
  }),
  z.strictObject({
    type: z.literal('stdio').optional(),
    command: z.literal('portico'),
    args: z.array(z.string()),
    env: z.strictObject({ PORTICO_TOKEN: z.string() }),
  }),
]);

/** The two forms in which clients keep their servers. */
const settings = z.union([
  z.strictObject({ mcpServers: z.strictObject({ portico: entry }) }),
  z.strictObject({
    inputs: z.tuple([z.looseObject({ id: z.literal('portico-token') })]),
    servers: z.strictObject({ portico: entry }),
  }),
]);

// Those of agents in a terminal are tested with the agents (test/hosts).
const blocks = codeBlocksBut(PAGE, 'json', 'Agents in a terminal');
const lines = codeBlocks(PAGE, 'sh').flatMap((block) => block.trimEnd().split('\n'));

describe('the page of clients', function () {
  this.timeout(60_000);
  let folder: string;
  let served: Served;
  let shell: PageShell;

  before(async () => {
    folder = await newFolder();
    served = await serve(folder, codeBlocksBut(PAGE, 'yaml', 'Agents in a terminal').join(''));
    shell = await createPageShell(folder);
  });

  after(() => served.close());

  const inPlace = (text: string) =>
    text.replaceAll(new URL(ADDRESS).origin, new URL(served.url).origin).replaceAll(CONFIG, served.config);

  const connects = async (server: Server) => {
    const session = await sdkV1.connect(server);
    try {
      expect(await session.list()).to.have.length(3);
      expect(await session.read('platform://tools')).to.deep.equal([await served.read('tools')]);
    } finally {
      await session.close();
    }
  };

  const stdio = (args: readonly string[], token: string): Server => ({
    ...served.stdio(token),
    command: join(folder, 'portico'),
    args,
  });

  it('has settings for each client, over HTTP and over stdio, and lines to run', () => {
    const kinds = blocks.map((block) => ('url' in entryOf(block) ? 'http' : 'stdio'));
    expect(kinds).to.deep.equal(['stdio', 'http', 'stdio', 'http', 'stdio', 'http', 'stdio']);
    const commands = [...Array(2).fill('claude'), ...Array(4).fill('npx'), ...Array(2).fill('curl')];
    expect(lines.map((line) => line.split(' ', 1)[0])).to.deep.equal(commands);
  });

  for (const [index, block] of blocks.entries()) {
    it(`shows settings that connect: the ${index + 1}. of them`, async () => {
      const shown = entryOf(block);
      if ('url' in shown) {
        const header = shown.headers.Authorization.replace(TOKEN_PLACES, TOKEN);
        expect(header).to.equal(`Bearer ${TOKEN}`);
        await connects(served.http(TOKEN));
      } else {
        await connects(stdio(shown.args.map(inPlace), shown.env.PORTICO_TOKEN.replace(TOKEN_PLACES, TOKEN)));
      }
    });
  }

  for (const line of lines) {
    it(`shows a line that works: ${line}`, async function () {
      if (line.startsWith('curl ') && spawnSync('curl', ['--version']).status !== 0)
        skipAloud(this, 'curl is not here');
      const said = await shell.run(inPlace(line), { PORTICO_TOKEN: TOKEN });
      if (line.startsWith('curl ')) {
        const list = JSON.parse(said);
        expect(list).to.have.length(line.includes('?uri=') ? JSON.parse(await served.read('projects')).length : 3);
        return;
      }
      if (line.startsWith('npx ')) {
        expect(JSON.parse(said))
          .to.have.any.keys('resources', 'contents', 'tools', 'content')
          .and.not.include.keys('isError');
        return;
      }
      const told = said.trimEnd().split('\n');
      if (told.includes('http')) {
        const header = `Authorization: Bearer ${TOKEN}`;
        expect(told).to.deep.equal(['mcp', 'add', '--transport', 'http', 'portico', served.url, '--header', header]);
      } else {
        const variable = `PORTICO_TOKEN=${TOKEN}`;
        const options = ['mcp', 'add', '--env', variable, '--transport', 'stdio', 'portico', '--', 'portico'];
        expect(told.slice(0, options.length)).to.deep.equal(options);
        await connects(stdio(told.slice(options.length), TOKEN));
      }
    });
  }

  it('starts Portico over stdio with options of --help only', async () => {
    const help = await shell.run('portico --help');
    expect(help).to.contain('portico stdio [FILE]');
    const shown = blocks.map(entryOf).flatMap((one) => ('args' in one ? [[one.command, ...one.args].join(' ')] : []));
    const told = lines.flatMap((line) => line.split(' -- ').slice(1));
    expect([...shown, ...told]).to.deep.equal(Array(7).fill(`portico stdio ${CONFIG}`));
  });

  it('has the settings of README', () => {
    const shown = codeBlocks('README.md', 'json').filter((block) => block.includes('mcpServers'));
    expect(shown).to.have.length(1);
    expect(blocks).to.include.members(shown);
  });

  it('names codes of the page of errors', async () => {
    const [page, errors] = await Promise.all([PAGE, 'docs/errors.md'].map((file) => readFile(file, 'utf8')));
    const codes = [...String(page).matchAll(/`[a-z]+_(?:refused|rejected)`/g)].map(([code]) => code);
    expect(codes).to.have.length(3);
    for (const code of codes) expect(errors).to.contain(`| ${code} |`);
  });
});

function entryOf(block: string) {
  const parsed = settings.parse(JSON.parse(block));
  return 'servers' in parsed ? parsed.servers.portico : parsed.mcpServers.portico;
}
