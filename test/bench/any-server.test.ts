import { createServer } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { expect } from 'chai';
import { checkServer } from '../../bench/any-server/checks.ts';
import { reportOn } from '../../bench/any-server/run.ts';
import { startDemoPlatform, startGateway } from '../../src/portico-testing.ts';
import { listen } from '../support/listening.ts';

const TOKEN = 'demo-alice';

describe('the bench of any MCP server', () => {
  it('finds nothing wrong with Portico, in both kinds of revisions', async () => {
    const platform = await startDemoPlatform();
    const { url, close } = await startGateway({ upstreams: platform.upstreams, log: { level: 'silent' } });
    try {
      const { text, failed } = await reportOn({ url: `${url}/mcp`, token: TOKEN }, 0.02);
      expect(failed, text).to.equal(0);
      expect(text).to.include('Revisions: 2026-07-28, 2025-11-25');
      expect(text).to.match(/\| definitions of 3 tools \| \d{4} \| \d{3,4} \|/);
      for (const call of ['resources/read platform://projects', 'tools/call list_projects']) {
        expect(text).to.match(new RegExp(`\\| ${call} \\| [1-9]\\d* \\| [\\d.]+ ms \\| [\\d.]+ ms \\| 0 \\|`));
      }
      expect(text).not.to.include(TOKEN);
    } finally {
      await close();
      await platform.close();
    }
  });

  it('finds each fault of a server that is wrong', async () => {
    const server = createServer(async (request, response) => {
      response.end(JSON.stringify(answerWrongly(await textOf(request))));
    });
    const { url } = await listen(server);
    const { checks } = await checkServer({ url: `${url}/`, token: 'secret-token' });
    expect(checks.filter(({ failed }) => failed > 0).map(({ name }) => name)).to.have.members([
      'answers are JSON-RPC 2.0',
      'ids are echoed',
      'answers have either a result or an error',
      'errors have a code and a message',
      'answers do not repeat the token',
      'pagination ends',
      'lists repeat nothing',
      'schemas of tools are valid',
      'resources of type application/json are JSON',
      'structuredContent is valid by outputSchema',
      'structuredContent equals the text',
      'an unknown method is error -32601',
      'an unknown tool is an error',
      'an unknown resource is an error',
      'a body that is not JSON is error -32700',
    ]);
    expect(JSON.stringify(checks)).not.to.include('secret-token');
  });

  it('reads event streams that stay open, and ends its session', async () => {
    const seen: string[] = [];
    const server = createServer(async (request, response) => {
      const body = await textOf(request);
      if (body === '{"jsonrpc":') return void response.writeHead(400).end();
      const { id, method } = JSON.parse(body || '{}');
      seen.push(`${method ?? request.method} ${request.headers['mcp-session-id']}`);
      if (id === undefined) return void response.writeHead(202).end();
      if (method === 'server/discover') return void response.writeHead(400).end();
      const answer = { jsonrpc: '2.0', id, result: { protocolVersion: '2025-06-18', tools: [], resources: [] } };
      response.writeHead(200, { 'content-type': 'text/event-stream', 'mcp-session-id': 'one' });
      response.write(': ready\n\ndata: {"jsonrpc":"2.0","method":"notifications/message"}\n\n');
      response.write(`event: message\ndata: ${JSON.stringify(answer)}\n\n`);
    });
    const { url } = await listen(server);
    const { revisions, checks, close } = await checkServer({ url: `${url}/` });
    await close();
    expect(revisions).to.deep.equal(['2025-06-18']);
    expect(checks.find(({ name }) => name === 'ids are echoed')).to.include({ failed: 0 });
    expect(seen).to.include.members(['initialize undefined', 'tools/list one', 'DELETE one']);
  });

  it('fails for what is not an MCP server', async () => {
    const { url } = await listen(createServer((_request, response) => response.end('hello')));
    const { checks } = await checkServer({ url: `${url}/` });
    expect(checks).to.have.length(1);
    expect(checks[0]).to.include({ name: 'a revision is supported', failed: 1 });
  });
});

const TOOL = {
  name: 'list_things',
  annotations: { readOnlyHint: true },
  inputSchema: { type: 'object', properties: { limit: { type: 'wrong' } } },
  outputSchema: { type: 'object', required: ['total'] },
};

/** What a server answers that does everything wrong, but agrees on a revision. */
function answerWrongly(body: string): object {
  if (body === '{"jsonrpc":') return { jsonrpc: '2.0', id: null, result: {} };
  const { id, method } = JSON.parse(body);
  const result = resultOf(method);
  if (method === 'initialize') return { jsonrpc: '2.0', id, result };
  if (method === 'bench/unknown') return { jsonrpc: '2.0', id, error: { code: 'text' }, echo: 'secret-token' };
  if (method === 'resources/list')
    return { jsonrpc: '1.0', id: 'another', result, error: { code: 1, message: 'both' } };
  return { jsonrpc: '2.0', id, result };
}

function resultOf(method: string): object {
  if (method === 'initialize') return { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: {} };
  if (method === 'tools/list') return { tools: [TOOL], nextCursor: 'again' };
  if (method === 'resources/list') return { resources: [{ uri: 'x://things', name: 'things' }] };
  if (method === 'resources/read')
    return { contents: [{ uri: 'x://things', mimeType: 'application/json', text: '[' }] };
  return { content: [{ type: 'text', text: '{"a":1}' }], structuredContent: { a: 2 } };
}
