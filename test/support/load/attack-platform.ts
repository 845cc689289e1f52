import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { listOf, startHttpUpstream, tokenOf } from '../platform/http-upstream.ts';
import { listFor, nameIn } from './callers.ts';

/**
 * Two platforms: a sound one with projects and tools, and one with workflows, by links, that treats each caller as the caller's
 * name says. `floodPeak`: how many reads of those whose names begin with `flood` it had under way at most.
 */
export async function startAttackPlatforms() {
  let flooding = 0;
  let peak = 0;
  const sound = await startHttpUpstream(serveSound, { record: false });
  const hostile = await startHttpUpstream(
    (request, response) => {
      const name = nameOf(request);
      const [kind = ''] = name.split('-');
      if (kind === 'flood') {
        flooding += 1;
        peak = Math.max(peak, flooding);
        response.once('close', () => {
          flooding -= 1;
        });
      }
      // Everybody else is never answered.
      HOSTILE[kind]?.(request, response);
    },
    { record: false },
  );
  return { sound, hostile, floodPeak: () => peak };
}

const nameOf = (request: IncomingMessage) => nameIn(tokenOf(request));

/** Whoever's name begins with `large` has 4,000 of each, of 5 MB together. */
const LARGE = { pages: 4, items: 1000, description: 'x'.repeat(1200) };
const largePages = new Map<string, Buffer>();

function largePage(resource: string, page: number): Buffer {
  const key = `${resource} ${page}`;
  const known = largePages.get(key) ?? Buffer.from(JSON.stringify(newLargePage(resource, page)));
  largePages.set(key, known);
  return known;
}

function newLargePage(resource: string, page: number): object {
  const items = Array.from({ length: LARGE.items }, (_, index) => {
    const item = { id: `${page}-${index}`, name: 'Large', description: LARGE.description };
    return resource === 'tools' ? { ...item, version: '1.0.0', category: 'scanner' } : item;
  });
  const nextPageToken = page + 1 < LARGE.pages ? String(page + 1) : '';
  return { [resource]: items, nextPageToken };
}

const serveSound: RequestListener = (request, response) => {
  const name = nameOf(request);
  const resource = listOf(request) as 'projects' | 'tools';
  if (!name.startsWith('large')) return send(response, JSON.stringify({ [resource]: listFor(name, resource) }));
  const page = Number(new URL(request.url ?? '', 'http://platform').searchParams.get('pageToken') ?? 0);
  send(response, largePage(resource, page));
};

function send(response: ServerResponse, body: string | Buffer, headers: Record<string, string> = {}): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(body);
}

const MB = 1_000_000;
const ITEM = { id: 'one', name: 'One' };
const pageBeside = (beside: string) => Buffer.from(`{"workflows":[${JSON.stringify(ITEM)}],"beside":${beside}}`);
const NESTED = pageBeside('['.repeat(MB) + ']'.repeat(MB));
const VALUES = pageBeside(`[${Array(600_000).fill('{}').join(',')}]`);
const BOMB = gzipSync(Buffer.alloc(64 * MB, ' '));
const LONG = 'x'.repeat(1.8 * MB);

/** What is done to whom, by the first part of the name. */
const HOSTILE: Readonly<Record<string, RequestListener>> = {
  nested: (_request, response) => send(response, NESTED),
  values: (_request, response) => send(response, VALUES),
  bomb: (_request, response) => send(response, BOMB, { 'content-encoding': 'gzip' }),
  endless(request, response) {
    const at = Number(new URL(request.url ?? '', 'http://platform').searchParams.get('at') ?? 0);
    send(response, `{"workflows":[{"id":"${at}","name":"Long","description":"${LONG}"}]}`, {
      link: `</v1/workflows?at=${at + 1}>; rel="next"`,
    });
  },
};

/** Names of those to whom it sends pages of which it is to be told that they cannot be used. */
export const HOSTILE_PAGES = Object.keys(HOSTILE);
