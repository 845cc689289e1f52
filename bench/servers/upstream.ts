import { listen, TOOLS } from './listen.ts';

// The platform: tools, workflows with the same bytes, as many projects as the first argument states in pages of any size, and the
// number of requests that it was sent. Every page is made once. With a second argument, every item of the list of tools is different
// each time. The third is by how many milliseconds each answer is late.
const [projectCount = 0, isAlwaysNew = 0, delayMs = 0] = process.argv.slice(2).map(Number);
const OLD = 'Tool number';

const pages = new Map<string, Buffer>();
let requests = 0;

function pageAt(target: string): Buffer {
  const { pathname, searchParams } = new URL(target, 'http://localhost');
  const name = pathname.slice('/v1/'.length);
  if (name !== 'projects') return Buffer.from(JSON.stringify({ [name]: TOOLS, nextPageToken: '' }));
  const size = Number(searchParams.get('pageSize') ?? projectCount);
  const start = (Number(searchParams.get('page') ?? 1) - 1) * size;
  const projects = Array.from({ length: Math.max(0, Math.min(size, projectCount - start)) }, (_, index) => ({
    ...{ id: `project-${start + index}`, name: `Project number ${start + index}`, createTime: '2026-01-02T03:04:05Z' },
    description: `Holds what belongs together, the ${start + index}th of its kind, for those who may see it.`,
  }));
  return Buffer.from(JSON.stringify({ projects, total: projectCount }));
}

/** The same list with other names of the same length: all items differ from those of every earlier list. */
function renew(page: Buffer): Buffer {
  const copy = Buffer.from(page);
  const name = requests.toString(36).padStart(OLD.length, '0');
  for (let at = copy.indexOf(OLD); at >= 0; at = copy.indexOf(OLD, at)) copy.write(name, at, 'latin1');
  return copy;
}

listen((request, response) => {
  const { url = '' } = request;
  if (url === '/count') return void response.end(String(requests));
  requests += 1;
  const made = pages.get(url) ?? pageAt(url);
  pages.set(url, made);
  const page = isAlwaysNew && url.startsWith('/v1/tools') ? renew(made) : made;
  const send = () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': page.length });
    response.end(page);
  };
  if (delayMs > 0) setTimeout(send, delayMs);
  else send();
});
