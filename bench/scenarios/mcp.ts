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
const MODERN = '2026-07-28';

/** Long enough for nothing to grow stale while the bench runs. */
const RESOURCES = { tools: { cache: { ttlMs: 3_600_000 } } };

/** What clients of each kind send, over and over. */
export const REQUESTS = {
  'resources/read, 2025-11-25': before('resources/read', { uri: URI }),
  'resources/read, 2026-07-28': since('resources/read', { uri: URI }, URI),
  'tools/call of a first page, 2025-11-25': before('tools/call', { name: 'list_installed_tools', arguments: {} }),
  'tools/call of a first page, 2026-07-28': since(
    'tools/call',
    { name: 'list_installed_tools', arguments: {} },
    'list_installed_tools',
  ),
};

/** Hits only; beside a server on the SDK that does nothing else, and beside no work at all. */
export const mcp: Scenario = {
  name: 'mcp',
  title: 'MCP, from cache',
  async run(workshop) {
    const client = createClient();
    const platform = await servePlatform(workshop);
    const portico = await servePortico(workshop, platform.url, { settings: { resources: RESOURCES } });
    const sdk = await serve(workshop, SERVER_CORE, [ours('bench/servers/sdk-rpc.ts')]);
    const tables: string[] = [];
    for (const [title, load] of Object.entries(REQUESTS)) {
      const bare = await serveAnswer(workshop, await warmUp(`${portico.url}/mcp`, load));
      await warmUp(`${sdk.url}/mcp`, load);
      const contenders = { Portico: portico, 'the SDK alone': sdk, 'bare `node:http`': bare };
      const found = await takeTurns(
        workshop,
        Object.entries(contenders).map(([name, server]) => {
          return { name, server, load: { ...load, url: `${server.url}/mcp` } };
        }),
      );
      tables.push(`${title}:\n\n${standings(found)}`);
      await bare.stop();
    }
    const asked = await countRequests(platform, client);
    client.close();
    if (asked !== CALLERS) throw new Error(`the platform was asked ${asked} times by ${CALLERS} callers`);
    return tables.join('\n');
  },
};

/** A request of the revisions before 2026-07-28. */
function before(method: string, params: object): Omit<Load, 'url'> {
  return request(method, params, { 'mcp-protocol-version': '2025-11-25' });
}

/** A request of revision 2026-07-28; `name` is what its headers repeat. */
function since(method: string, params: object, name: string): Omit<Load, 'url'> {
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const headers = { 'mcp-protocol-version': MODERN, 'mcp-method': method, 'mcp-name': name };
  return request(method, { ...params, _meta: envelope }, headers);
}

function request(method: string, params: object, headers: Record<string, string>): Omit<Load, 'url'> {
  return {
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
  };
}

/** Has every caller ask twice, and gives one of the answers. Rejects where one is no 200. */
export async function warmUp(url: string, { headers = {}, body = '' }: Omit<Load, 'url'>): Promise<string> {
  let answer = '';
  await each(2 * CALLERS, 32, async (turn) => {
    const authorization = `Bearer ${tokenOf((turn % CALLERS) + 1)}`;
    const response = await fetch(url, { method: 'POST', headers: { ...headers, authorization }, body });
    answer = await response.text();
    if (response.status !== 200) throw new Error(`${url} answered ${response.status}: ${answer}`);
  });
  return answer;
}

async function serveAnswer(workshop: Workshop, answer: string) {
  const file = join(workshop.folder, 'answer.json');
  await writeFile(file, answer);
  return serve(workshop, SERVER_CORE, [ours('bench/servers/bare-rpc.ts'), file]);
}
