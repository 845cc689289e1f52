import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient, each } from '../client.ts';
import { SERVER_CORE } from '../cores.ts';
import { countRequests, servePlatform } from '../platform.ts';
import { servePortico } from '../portico.ts';
import type { Scenario } from '../scenario.ts';
import { ours, serve } from '../server.ts';
import { standings } from '../standings.ts';
import { takeTurns } from '../turns.ts';
import type { Workshop } from '../workshop.ts';
import { CALLERS, type Load, tokenOf } from '../wrk.ts';

const URI = 'platform://tools';
const REVISION = '2026-07-28';

/** Long enough for nothing to grow stale while the bench runs. */
const RESOURCES = { tools: { cache: { ttlMs: 3_600_000 } } };

/** What clients of each era send, over and over. */
const REQUESTS = {
  'before 2026-07-28': request({ uri: URI }, { 'mcp-protocol-version': '2025-11-25' }),
  'from 2026-07-28 on': request(
    {
      uri: URI,
      _meta: {
        'io.modelcontextprotocol/protocolVersion': REVISION,
        'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
    { 'mcp-protocol-version': REVISION, 'mcp-method': 'resources/read', 'mcp-name': URI },
  ),
};

/** Hits only; beside what the SDK costs, and beside no work at all. */
export const mcp: Scenario = {
  name: 'mcp',
  title: 'resources/read over MCP, from cache',
  async run(workshop) {
    const client = createClient();
    const platform = await servePlatform(workshop);
    const start = (answerAhead: boolean) =>
      servePortico(workshop, platform.url, { settings: { http: { port: 0, answerAhead }, resources: RESOURCES } });
    const portico = await start(true);
    const sdk = await start(false);
    const tables: string[] = [];
    for (const [era, load] of Object.entries(REQUESTS)) {
      const answer = await warmUp(`${portico.url}/mcp`, load);
      if (!isSame(answer, await warmUp(`${sdk.url}/mcp`, load))) throw new Error('the answers are not the same');
      const bare = await serveAnswer(workshop, answer);
      const contenders = { Portico: portico, 'the SDK behind Koa': sdk, 'bare `node:http`': bare };
      const found = await takeTurns(
        workshop,
        Object.entries(contenders).map(([name, server]) => {
          return { name: `${name}, ${era}`, server, load: { ...load, url: `${server.url}/mcp` } };
        }),
      );
      tables.push(standings(found));
      await bare.stop();
    }
    const asked = await countRequests(platform, client);
    client.close();
    if (asked !== 2 * CALLERS) throw new Error(`the platform was asked ${asked} times by two times ${CALLERS} callers`);
    return tables.join('\n');
  },
};

function request(params: object, headers: Record<string, string>): Omit<Load, 'url'> {
  return {
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/read', params }),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
  };
}

/** Has every caller ask twice, and gives one of the answers. Rejects where one is no 200. */
async function warmUp(url: string, { headers = {}, body = '' }: Omit<Load, 'url'>): Promise<string> {
  let answer = '';
  await each(2 * CALLERS, 32, async (turn) => {
    const authorization = `Bearer ${tokenOf((turn % CALLERS) + 1)}`;
    const response = await fetch(url, { method: 'POST', headers: { ...headers, authorization }, body });
    answer = await response.text();
    if (response.status !== 200) throw new Error(`${url} answered ${response.status}: ${answer}`);
  });
  return answer;
}

/** Whether two answers say the same, but for how long they are fresh. */
function isSame(one: string, other: string): boolean {
  const [first, second] = [one, other].map((text) => text.replace(/"ttlMs":\d+/, ''));
  return first === second;
}

async function serveAnswer(workshop: Workshop, answer: string) {
  const file = join(workshop.folder, 'answer.json');
  await writeFile(file, answer);
  return serve(workshop, SERVER_CORE, [ours('bench/servers/bare-rpc.ts'), file]);
}
