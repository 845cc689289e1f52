import { freePort } from '../rig.ts';
import { announce, TOOLS } from './listen.ts';

// What a team would write on FastMCP: the same list in memory as of sdk-rpc.ts. Credentials are not checked, nothing is logged.
const { FastMCP } = await import(process.argv[2] ?? '');
const silent = () => {};
const logger = { debug: silent, error: silent, info: silent, log: silent, warn: silent };
const server = new FastMCP({ name: 'bench', version: '1.0.0', logger });
const text = JSON.stringify(TOOLS);
const page = { items: TOOLS.slice(0, 50), total: TOOLS.length };

server.addResource({
  uri: 'platform://tools',
  name: 'tools',
  mimeType: 'application/json',
  load: async () => ({ text }),
});
server.addTool({ name: 'list_installed_tools', description: 'Lists tools', execute: async () => JSON.stringify(page) });

const port = await freePort();
await server.start({
  transportType: 'httpStream',
  httpStream: { port, host: '127.0.0.1', stateless: true, enableJsonResponse: true },
});
announce({ port });
