import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from './listen.ts';
import { projects, TOOLS, tools, WORKFLOWS } from './page.ts';

// The platform: tools and workflows in one page, as many tools and projects as the arguments state, these in pages of any size, and
// the number of requests that it was sent. Every page is made once, and is sent after a delay. With `isAlwaysNew`, every item of
// the list of tools is different each time.
const [delayMs = 0, projectCount = 0, toolCount = TOOLS.length, isAlwaysNew = 0] = process.argv.slice(2).map(Number);
const OLD = 'Tool number';

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

/** The same list with other names of the same length: all items differ from those of every earlier list. */
function renew(page: Buffer): Buffer {
  const copy = Buffer.from(page);
  const name = requests.toString(36).padStart(OLD.length, '0');
  for (let at = copy.indexOf(OLD); at >= 0; at = copy.indexOf(OLD, at)) copy.write(name, at, 'latin1');
  return copy;
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
  const made = pages.get(url) ?? pageAt(url);
  pages.set(url, made);
  const page = isAlwaysNew && url.startsWith('/v1/tools') ? renew(made) : made;
  if (delayMs > 0) await sleep(delayMs);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': page.length });
  response.end(page);
});
