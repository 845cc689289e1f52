import { expect } from 'chai';
import { HOSTS as COUNTED, INITIALIZE } from '../../scripts/tool-tokens.ts';
import { TOKEN } from '../support/authorization/caller.ts';
import { readDoc } from '../support/docs.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/listening.ts';
import { type HttpUpstream, json, lists, startHttpUpstream } from '../support/platform/http-upstream.ts';
import { newFolder, runPortico, writeSettings } from '../support/process/process.ts';
import { servedFrom } from '../support/process/serving.ts';
import { callOf, RPC_FIELDS, rpc } from '../support/rpc.ts';
import { type Conversation, installHost, startHost } from './conversation.ts';
import type { Json } from './dialects.ts';
import { HOSTS, type Host } from './hosts.ts';

/** Setting `mcp.maxResultBytes`, above which Portico itself refuses a result: more than most hosts give a model. */
const MAX_RESULT = 65_536;

const TIMEOUT_MS = 120_000;
const COUNT = 300;
const CATEGORIES = ['SCANNER', 'TICKETING', 'ENRICHMENT'];

/** The same text in each, long enough for results above the limits of hosts. */
const DESCRIPTION = 'Looks up hashes, addresses and domains in the service of its vendor. '.repeat(2);

const PLATFORM = lists(
  Object.fromEntries(
    ['projects', 'workflows', 'tools'].map((name) => [
      name,
      Array.from({ length: COUNT }, (_, index) => ({
        id: `${name}-${index}`,
        name: `${name} ${index}`,
        description: DESCRIPTION,
        version: '1.0.0',
        category: CATEGORIES[index % CATEGORIES.length],
        createTime: '2026-01-01T00:00:00Z',
        triggerType: 'MANUAL',
        status: 'ACTIVE',
      })),
    ]),
  ),
);

const [PROJECTS, WORKFLOWS, TOOLS] = ['list_projects', 'list_installed_workflows', 'list_installed_tools'] as const;

interface Page {
  readonly total: number;
  readonly nextCursor?: string;
  readonly items: readonly Readonly<Record<string, string>>[];
}

for (const host of HOSTS) {
  describe(`${host.name} ${host.version}`, function () {
    this.timeout(TIMEOUT_MS);
    let path: readonly string[];
    let platform: HttpUpstream;
    let file: string;
    let url: string;
    let talk: Conversation;
    let start: () => ReturnType<typeof runPortico>;

    before(async function () {
      this.timeout(600_000);
      path = await installHost(this, host);
      platform = await startHttpUpstream(PLATFORM);
      const port = await freePort();
      file = await writeSettings(
        await newFolder(),
        servedFrom(platform.url, { http: { port }, mcp: { maxResultBytes: MAX_RESULT } }),
      );
      start = () => runPortico(['serve', file]);
    });

    describe('over HTTP', () => {
      let portico: ReturnType<typeof runPortico>;

      before(async () => {
        portico = start();
        url = await portico.ready;
        talk = await (await startHost(host, path, { url }, TOKEN)).converse();
      });

      /** What Portico returns without a host between. */
      const direct = async (message: object) => {
        const headers = { authorization: `Bearer ${TOKEN}`, 'user-agent': 'test', ...RPC_FIELDS };
        const response = await fetch(`${url}/mcp`, { method: 'POST', headers, body: JSON.stringify(message) });
        return ((await response.json()) as { result: Json }).result;
      };
      /** The whole page, and the size of its result as the host counts it. */
      const directCall = async (tool: string, args = {}) => {
        const result = await direct(callOf(tool, args));
        const { content, structuredContent: page } = result;
        const forms: Record<string, number> = { text: content[0].text.length, data: JSON.stringify(page).length };
        const sizes = {
          ...forms,
          both: (forms['text'] ?? 0) + (forms['data'] ?? 0),
          all: JSON.stringify(result).length,
        };
        return { page: page as Page, size: sizes[cellOf(host, 'Result') as keyof typeof sizes] };
      };

      it('gives the model each tool with its description and arguments', async () => {
        const { tools } = await direct(rpc('tools/list'));
        expect(tools).to.have.length(3);
        for (const { name, description, inputSchema } of tools) {
          const given = talk.tools().find((tool) => tool.name.endsWith(name));
          expect(given?.description).to.contain(description);
          expect(given?.schema.properties).to.contain.keys(Object.keys(inputSchema.properties));
        }
      });

      it('sends and gives what the tokens on the page are counted of', async () => {
        const { prefix, definitions, result } = COUNTED[host.name] ?? expect.fail('no row');
        const { tools } = await direct(rpc('tools/list'));
        const { instructions } = await direct(rpc('initialize', INITIALIZE));
        const named = tools.map((tool: Json) => ({ ...tool, name: `${prefix}${tool.name}` }));
        const ours = talk.tools().filter(({ name }) => tools.some((tool: Json) => name.endsWith(tool.name)));
        expect([...new Set(ours.map(({ sent }) => sent))]).to.have.deep.members(definitions(named, instructions));
        const args = { limit: 2, fields: 'id,name' };
        expect(await talk.call(TOOLS, args)).to.contain(result(await direct(callOf(TOOLS, args))));
      });

      it(`gives the model the whole first page of ${COUNT} items, with total and cursor`, async () => {
        const { page } = await directCall(TOOLS);
        expect(page).to.include({ total: COUNT }).and.have.property('nextCursor');
        const text = await talk.call(TOOLS);
        expectWhole(text, page);
        // Some hosts compare text and data, and pass on one of them where they are equal. Of both, Cline CLI leaves out the middle.
        expect(plainOf(text).split(`{"total":${COUNT},`)).to.have.length(2);
      });

      it('follows the cursor', async () => {
        const { nextCursor: cursor } = pageIn(await talk.call(TOOLS, { limit: 5 }));
        const { ids } = pageIn(await talk.call(TOOLS, { limit: 5, cursor }));
        expect(ids).to.deep.equal([5, 6, 7, 8, 9].map((index) => `tools-${index}`));
      });

      it('gives the model the reason why an argument is refused', async () => {
        expect(await talk.call(TOOLS, { limit: 'many' })).to.match(/\blimit\b.*(?:number|integer)/s);
      });

      const stated = Number(/[\d,]+/.exec(cellOf(host, 'Limit of a result'))?.[0].replaceAll(',', ''));
      const limit = Math.min(stated || MAX_RESULT, MAX_RESULT);
      it(`gives the model results up to ${limit} characters`, async () => {
        const itemSize = (await directCall(WORKFLOWS, { limit: 100 })).size / 100;
        const fitting = { limit: Math.floor((0.95 * limit) / itemSize) };
        expectWhole(await talk.call(WORKFLOWS, fitting), (await directCall(WORKFLOWS, fitting)).page);
        if (limit === MAX_RESULT) return;
        const longer = { limit: Math.ceil((1.05 * limit) / itemSize) };
        const { length } = await talk.call(WORKFLOWS, longer);
        expect(length).to.be.below((await directCall(WORKFLOWS, longer)).size);
      });

      const [, reader] = /`(\w+)`/.exec(cellOf(host, 'Resources')) ?? [];
      if (reader !== undefined) {
        it('has a tool of its own that reads resources', async () => {
          await talk.load(`select:${reader}`);
          const { properties } = talk.tools().find(({ name }) => name === reader)?.schema ?? {};
          const server = Object.keys(properties).find((name) => name.startsWith('server')) ?? 'server';
          const text = await talk.call(reader, { [server]: 'portico', uri: 'platform://projects' });
          expect(text).to.match(/platform:..projects|projects-0/);
        });
      }

      it('gives the model the reason while the platform refuses the token, and works afterwards', async () => {
        platform.respond(json({}, 401));
        expect(await talk.call(PROJECTS)).to.contain('credential_rejected');
        platform.respond(PLATFORM);
      });

      it('has the version and the revision on the page', () => {
        expect(cellOf(host, 'Version')).to.equal(host.version);
        // Without the client that counts tokens above.
        const revisions = portico.stdout().matchAll(/"client":{(?!"name":"tool-tokens")[^}]*"revision":"([^"]+)"/g);
        expect(new Set([...revisions].map(([, revision]) => revision))).to.have.keys(cellOf(host, 'Revision'));
      });

      it('continues after a restart of Portico, and ends well', async () => {
        await portico.stop();
        await start().ready;
        expect(pageIn(await talk.call(WORKFLOWS, { limit: 2 })).total).to.equal(COUNT);
        expect(await talk.end()).to.include({ code: 0 });
      });
    });

    it('lists over stdio', async () => {
      const other = await (await startHost(host, path, { file }, TOKEN)).converse();
      expect(pageIn(await other.call(TOOLS, { limit: 2 })).total).to.equal(COUNT);
      expect(await other.end()).to.include({ code: 0 });
    });

    it('gives the model no tools where Portico refuses the token', async () => {
      const portico = start();
      const { requests, ended } = await startHost(host, path, { url: await portico.ready }, 'not a token');
      const { code } = await ended;
      expect(code).to.equal(cellOf(host, 'At 401').includes('error') ? 1 : 0);
      expect(requests.filter((request) => request.includes(PROJECTS))).to.deep.equal([]);
      await eventually(() => portico.stdout().includes('"status":401'));
    });
  });
}

/** What of a page is in what a model is given, in the form of a host: once or twice, plain or as a JSON string. */
function pageIn(text: string) {
  const plain = plainOf(text);
  const [, total, nextCursor] = /"total":(\d+)(?:,"nextCursor":"([^"]+)")?/.exec(plain) ?? [];
  const ids = new Set([...plain.matchAll(/"id":"([^"]+)"/g)].map(([, id]) => id));
  return { total: Number(total), nextCursor, ids: [...ids] };
}

function expectWhole(text: string, { total, nextCursor, items }: Page): void {
  const plain = plainOf(text);
  expect(plain).to.contain(`"total":${total},"nextCursor":"${nextCursor}"`);
  for (const item of items) expect(plain).to.contain(JSON.stringify(item));
}

function plainOf(text: string): string {
  return text.replaceAll('\\"', '"');
}

/** A cell of a host's row on the page. */
function cellOf({ name }: Host, column: string): string {
  const rows = readDoc('docs/clients.md')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  const index = rows.find((row) => row.includes('Host'))?.indexOf(column) ?? -1;
  const cell = rows.find((row) => row[1] === name)?.[index];
  if (cell === undefined) throw new Error(`${name} has no ${column}`);
  return cell;
}
