import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient, each } from '../client.ts';
import { SERVER_CORE } from '../cores.ts';
import { findFastmcp } from '../fastmcp.ts';
import { type Server, serve } from '../server.ts';
import { type Contender, paired } from '../turns.ts';
import type { Workshop } from '../workshop.ts';
import { CALLERS, type Load, tokenOf } from '../wrk.ts';
import { checkHits, serveHeld } from './cached.ts';

const URI = 'platform://tools';
const TOOL = 'list_installed_tools';
const [LEGACY, MODERN] = ['2025-11-25', '2026-07-28'];

type Rpc = Omit<Load, 'url'>;

/** What clients send, over and over: by method, what is sent in each revision. */
const CALLS = {
  'resources/read': { params: { uri: URI }, subject: URI },
  'tools/call': { params: { name: TOOL, arguments: {} }, subject: TOOL },
};
type Method = keyof typeof CALLS;
const METHODS = Object.keys(CALLS) as Method[];

/** A read of the list and a call of its first page in the newest revision. */
export const REQUESTS = { 'resources/read': modern('resources/read'), 'tools/call': modern('tools/call') };

/**
 * `resources/read` and `tools/call` of a first page from cache, beside servers that hold the list in memory and do nothing else. Each is
 * requested in the newest revision that it supports.
 */
export const mcp = paired(
  'mcp',
  METHODS.flatMap((method) => [
    { name: `${method} : bare`, of: `portico ${method}`, to: `bare ${method}`, aim: 0.5 },
    { name: `${method} : SDK`, of: `portico ${method}`, to: `sdk ${method}`, aim: 10 },
    { name: `${method} : FastMCP`, of: `portico ${method}`, to: `fastmcp ${method}`, aim: 10 },
  ]),
  async (workshop) => {
    const client = createClient();
    const { platform, portico } = await serveHeld(workshop);
    const sdk = await serve(workshop, SERVER_CORE, 'sdk-rpc.ts');
    const entry = findFastmcp();
    const fastmcp = entry === undefined ? undefined : await serve(workshop, SERVER_CORE, 'fastmcp-rpc.ts', entry);
    const contenders: Record<string, Contender> = {};
    for (const method of METHODS) {
      const add = async (name: string, server: Server, load: Rpc, callers = 1) => {
        const url = `${server.url}/mcp`;
        contenders[`${name} ${method}`] = { server, load: { ...load, url } };
        return warmUpRpc(url, load, callers);
      };
      // Only Portico has a list for each caller.
      const answer = await add('portico', portico, modern(method), CALLERS);
      await add('bare', await serveAnswer(workshop, answer), modern(method));
      await add('sdk', sdk, modern(method));
      if (fastmcp) await add('fastmcp', fastmcp, legacy(method));
    }
    return { contenders, check: () => checkHits(platform, client) };
  },
);

/** A request of the revisions before 2026-07-28. */
function legacy(method: Method): Rpc {
  return request(method, CALLS[method].params, { 'mcp-protocol-version': LEGACY });
}

/** A request of revision 2026-07-28, whose headers repeat its subject. */
function modern(method: Method): Rpc {
  const { params, subject } = CALLS[method];
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const headers = { 'mcp-protocol-version': MODERN, 'mcp-method': method, 'mcp-name': subject };
  return request(method, { ...params, _meta: envelope }, headers);
}

function request(method: string, params: object, headers: Record<string, string>): Rpc {
  return {
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
  };
}

/** Sends the request once for each caller, and returns one of the answers. Rejects where one has no result. */
export async function warmUpRpc(url: string, { headers = {}, body = '' }: Rpc, callers = CALLERS): Promise<string> {
  let answer = '';
  await each(callers, 32, async (caller) => {
    const authorization = `Bearer ${tokenOf(caller)}`;
    const response = await fetch(url, { method: 'POST', headers: { ...headers, authorization }, body });
    answer = await response.text();
    if (response.status !== 200 || !answer.includes('"result"')) {
      throw new Error(`${url} answered ${response.status}: ${answer}`);
    }
  });
  return answer;
}

async function serveAnswer(workshop: Workshop, answer: string): Promise<Server> {
  const file = join(workshop.folder, 'answer.json');
  await writeFile(file, answer);
  return serve(workshop, SERVER_CORE, 'bare-rpc.ts', file);
}
