import type { RequestListener } from 'node:http';
import { expect } from 'chai';
import { captureLog } from '../../core/log/captured-log.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { startHttpUpstream } from '../../support/platform/http-upstream.ts';

const projects = Array.from({ length: 120 }, (_, index) => ({ id: `p-${index}`, name: `Project ${index}` }));

interface Answer {
  /** Beside the list. */
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

const queryOf = ({ searchParams }: URL, name: string, otherwise = 0) => Number(searchParams.get(name) ?? otherwise);

/** Serves the first 25 projects whatever it is asked for, unless `skip` says otherwise, and counts them in `came`. */
function platform(say: (url: URL) => Answer = () => ({}), skip = (_url: URL) => 0, size = (_url: URL) => 25) {
  const listener: RequestListener = (request, response) => {
    const url = new URL(request.url ?? '/', 'http://platform');
    const { body = {}, headers = {} } = say(url);
    const start = skip(url);
    response.writeHead(200, { 'content-type': 'application/json', ...headers });
    const page = projects.slice(start, start + size(url));
    response.end(JSON.stringify({ projects: page, came: page.length, ...body }));
  };
  return listener;
}

async function read(handler: RequestListener, resource: object) {
  const upstream = await startHttpUpstream(handler);
  const { events: _, ...log } = captureLog('info');
  const { read: readName } = await startGateway(
    settingsFor(upstream.url, {
      resources: { projects: resource },
      log: { level: 'info' },
      confirmation: { enabled: true },
    }),
    { logger: log.logger },
  );
  const response = await readName('projects');
  const body = (await response.json()) as { detail?: string; code?: string; upstream?: string; length?: number };
  return { status: response.status, body, lines: log.lines(), requests: upstream.requests.map(({ url }) => url ?? '') };
}

/** Reads a list that is upstream_invalid, with these words. */
async function expectRefused(handler: RequestListener, resource: object, ...words: readonly string[]) {
  const { status, body, ...rest } = await read(handler, resource);
  expect(body).to.include({ code: 'upstream_invalid', upstream: 'projects' });
  expect(status).to.equal(502);
  for (const word of words) expect(body.detail).to.contain(word);
  return rest;
}

/** Reads a list of so many projects. */
async function expectServed(handler: RequestListener, resource: object, count: number) {
  const { status, body, requests } = await read(handler, resource);
  expect([status, body.length]).to.deep.equal([200, count]);
  return requests;
}

/** What a platform of 120 projects says on its first page of 25, by the sign that it shows. */
const SHOWN: Readonly<Record<string, readonly [string, Answer]>> = {
  'total_count beside the list': ['total', { body: { total_count: 120 } }],
  'total beside the list': ['total', { body: { total: 120 } }],
  'X-Total-Count': ['total', { headers: { 'X-Total-Count': '120' } }],
  total_pages: ['pages', { body: { total_pages: 5 } }],
  'has_more: true': ['more', { body: { has_more: true } }],
  'a next link': ['next', { body: { links: { next: '/v1/projects?start=25' } } }],
  'a next cursor': ['next', { body: { meta: { next_cursor: 'abc' } } }],
  'Link: rel=next': ['next', { headers: { Link: '</v1/projects?start=25>; rel="next"' } }],
};

describe('a list whose first page only is read by wrong pagination settings', () => {
  for (const [shown, [sign, answer]] of Object.entries(SHOWN)) {
    it(`is upstream_invalid by ${shown}, and served when ignoreSigns names the sign, not the others`, async () => {
      const handler = platform(() => answer);
      // A figure that the platform states is not to be ignored.
      const ignored = sign === 'total' || sign === 'pages' ? [] : [`pagination.ignoreSigns: [${sign}]`];
      const { lines } = await expectRefused(handler, { pagination: { kind: 'none' } }, `sign: ${sign}`, ...ignored);
      const line = lines.find(({ msg }) => msg === 'request');
      expect(line?.['reason']).to.contain(`(${sign}: `).and.to.contain('pagination.kind');
      const ignoring = (ignoreSigns: readonly string[]) => ({ pagination: { kind: 'none', ignoreSigns } });
      await expectServed(handler, ignoring([sign]), 25);
      const others = Object.values(SHOWN).flatMap(([other]) => (other === sign ? [] : [other]));
      await expectRefused(handler, ignoring(others));
    });
  }

  it('is upstream_invalid when pages are numbered from 0 and firstPage is 1', async () => {
    const handler = platform(
      (url) => ({ body: { prev: queryOf(url, 'page', 1) === 0 ? null : '/v1/projects?page=0' } }),
      (url) => queryOf(url, 'page') * 25,
    );
    await expectRefused(handler, { pagination: { kind: 'page' } }, 'sign: previous');
    await expectServed(handler, { pagination: { kind: 'page', firstPage: 0 } }, 120);
  });

  it('is upstream_invalid by a configured total, with each kind of pagination', async () => {
    const inBody = { total: 'sum' };
    for (const kind of ['none', 'token', 'link']) {
      for (const [answer, total, expected] of [
        [{ body: { sum: 120 } }, inBody, 502],
        [{ headers: { 'X-Sum': '120' } }, { totalHeader: 'X-Sum' }, 502],
        [{}, inBody, 502],
        [{ body: { sum: 25 } }, inBody, 200],
      ] as const) {
        const handler = platform(() => answer);
        const { status } = await read(handler, { pagination: { kind, ...total } });
        expect(status, `${kind} ${JSON.stringify(answer)}`).to.equal(expected);
      }
    }
  });
});

describe('a complete list', () => {
  for (const [name, answer] of Object.entries<Answer>({
    'counts the items of the page': { body: { count: 25 } },
    'counts what the filter leaves, and all': { body: { meta: { filter_count: 25, total_count: 225 } } },
    'says the size and number of the page': { body: { page: 1, size: 25, limit: 100, per_page: 25 } },
    'links to a next page always, and tells the end by a flag': {
      body: { links: { next: '/v1/projects?after=x' }, meta: { has_more: false } },
    },
    'counts fewer than it sends': { body: { total: 5 } },
    'has one page though it is empty': { body: { projects: [], total_pages: 1 } },
    'tells other numbers elsewhere': { body: { account: { total: 500, next: 'x' } } },
  })) {
    it(`is served where the platform ${name}`, async () => {
      const count = name.endsWith('empty') ? 0 : 25;
      await expectServed(
        platform(() => answer),
        { pagination: { kind: 'none' } },
        count,
      );
    });
  }

  it('may change its total between pages', async () => {
    for (const [first, second] of [
      [50, 51],
      [51, 50],
    ]) {
      const handler = platform(
        ({ searchParams }) => ({
          body: searchParams.has('pageToken') ? { total: second } : { total: first, nextPageToken: '25' },
        }),
        (url) => queryOf(url, 'pageToken'),
      );
      await expectServed(handler, { pagination: { kind: 'token', total: 'total' } }, 50);
    }
  });
});

describe('a stored list of one page', () => {
  it('is read again when an unchanged body comes with a header that indicates more items', async () => {
    let more = false;
    const upstream = await startHttpUpstream((request, response) => {
      const link = more ? { Link: '</v1/tools?start=1>; rel="next"' } : {};
      if (request.headers['if-none-match'] === '"1"') response.writeHead(304, { ETag: '"1"', ...link }).end();
      else {
        response.writeHead(200, { ETag: '"1"', ...link });
        response.end('{"tools":[{"id":"t","name":"T"}]}');
      }
    });
    let now = 0;
    const cache = { ttlMs: 1000, staleWhileRevalidateMs: 0, staleIfErrorMs: 0, minRefreshMs: 0 };
    const resources = { tools: { pagination: { kind: 'none' as const }, cache } };
    const { read: readName } = await startGateway(settingsFor(upstream.url, { resources }), { now: () => now });
    const statusOf = async (token = 'token') => {
      now += 2000;
      return (await readName('tools', { headers: { authorization: `Bearer ${token}` } })).status;
    };
    expect([await statusOf(), await statusOf()]).to.deep.equal([200, 200]);
    more = true;
    expect([await statusOf('another-token'), await statusOf()]).to.deep.equal([502, 502]);
    const tags = upstream.requests.map(({ headers }) => headers['if-none-match']);
    expect(tags).to.deep.equal([undefined, '"1"', undefined, '"1"', undefined]);
  });
});
