import { buffer } from 'node:stream/consumers';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { listen, TOOLS } from './listen.ts';

// What a team would write on the SDK itself: the list of tools from memory as a resource, and a tool that gives its first
// page. Nobody is asked who it is, nothing is logged.
const text = JSON.stringify(TOOLS);
const page = { items: TOOLS.slice(0, 50), total: TOOLS.length };

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'bench', version: '1' });
  server.registerResource('tools', 'platform://tools', { mimeType: 'application/json' }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'application/json', text }],
  }));
  server.registerTool('list_installed_tools', { inputSchema: z.object({ limit: z.number().optional() }) }, () => ({
    content: [{ type: 'text', text: JSON.stringify(page) }],
    structuredContent: page,
  }));
  return server;
});

listen(async (request, response) => {
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as [string, string]);
  const asked = new Request('http://127.0.0.1/mcp', { method: 'POST', headers, body: await buffer(request) });
  const answered = await handler.fetch(asked);
  const body = Buffer.from(await answered.arrayBuffer());
  response.writeHead(answered.status, { ...Object.fromEntries(answered.headers), 'content-length': body.length });
  response.end(body);
});
