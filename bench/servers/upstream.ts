import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from './listen.ts';
import { projects, TOOLS, tools, WORKFLOWS } from './page.ts';

// The platform: tools and workflows in one page, as many tools and projects as it is told, these in pages of any size, and the
// number of requests that it was sent. Every page is made once, and is sent after a delay.
const [delayMs = 0, projectCount = 0, toolCount = TOOLS.length] = process.argv.slice(2).map(Number);

const pages = new Map<string, Buffer>();
let requests = 0;

function pageAt(target: string): Buffer {
  const { pathname, searchParams } = new URL(target, 'http://localhost');
  if (pathname === '/v1/tools') return bytes({ tools: tools(toolCount), nextPageToken: '' });
  if (pathname === '/v1/workflows') return bytes({ workflows: WORKFLOWS, nextPageToken: '' });
  const size = Number(searchParams.get('pageSize') ?? projectCount);
  const start = (Number(searchParams.get('page') ?? 1) - 1) * size;
  return bytes({ projects: projects(start, Math.min(start + size, projectCount)), total: projectCount });
}

function bytes(page: object): Buffer {
  return Buffer.from(JSON.stringify(page));
}

listen(async (request, response) => {
  const { url = '' } = request;
  if (url === '/count') {
    response.end(String(requests));
    return;
  }
  requests += 1;
  const page = pages.get(url) ?? pageAt(url);
  pages.set(url, page);
  if (delayMs > 0) await sleep(delayMs);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': page.length });
  response.end(page);
});
