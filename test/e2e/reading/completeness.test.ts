import type { RequestListener } from 'node:http';
import { expect } from 'chai';
import { captureLog } from '../../core/log/captured-log.ts';
import { atDepth } from '../../support/depth.ts';
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
  'count that is not that of the page': ['total', { body: { count: 120 } }],
  'meta.filter_count beside meta.total_count': ['total', { body: { meta: { filter_count: 120, total_count: 225 } } }],
  'meta.total': ['total', { body: { meta: { total: 120 } } }],
  'meta.pagination.totalItems': ['total', { body: { meta: { pagination: { totalItems: 120 } } } }],
  'X-Total-Count': ['total', { headers: { 'X-Total-Count': '120' } }],
  'Content-Range': ['total', { headers: { 'Content-Range': 'projects 0-24/120' } }],
  total_pages: ['pages', { body: { total_pages: 5 } }],
  'has_more: true': ['more', { body: { has_more: true } }],
  'hasNextPage: true': ['more', { body: { pageInfo: { hasNextPage: true } } }],
  'isLast: false': ['more', { body: { isLast: false } }],
  'a next link': ['next', { body: { links: { next: '/v1/projects?start=25' } } }],
  'a next cursor': ['next', { body: { meta: { next_cursor: 'abc' } } }],
  'a nextPageToken elsewhere': ['next', { body: { page: { nextPageToken: 'abc' } } }],
  'Link: rel=next': ['next', { headers: { Link: '</v1/projects?start=25>; rel="next"' } }],
};

/** One or two of each sign: what each kind of pagination makes of it. The full depth has all of them with each kind. */
const OF_EACH_SIGN = [
  ...['total beside the list', 'X-Total-Count', 'total_pages'],
  ...['has_more: true', 'a next link', 'Link: rel=next'],
];
const IN_FULL = atDepth(0, 1) === 1;

const KINDS: Readonly<Record<string, { readonly kind: string; readonly [key: string]: unknown } | undefined>> = {
  'left out': undefined,
  none: { kind: 'none' },
  token: { kind: 'token', next: 'elsewhere' },
  link: { kind: 'link' },
  'link in body': { kind: 'link', next: 'elsewhere' },
  // It takes neither parameter, and brings the first page again, or nothing behind it.
  offset: { kind: 'offset' },
  'offset with the count of the page as total': { kind: 'offset', total: 'came' },
  page: { kind: 'page' },
  'page with the count of the page as total': { kind: 'page', total: 'came' },
};

describe('a list whose first page only is read by wrong pagination settings', () => {
  for (const [kind, pagination] of Object.entries(KINDS)) {
    for (const [shown, [sign, answer]] of Object.entries(SHOWN)) {
      // What `link` follows is no sign against it.
      if (shown === 'Link: rel=next' && kind === 'link') continue;
      if (!IN_FULL && kind !== 'none' && !OF_EACH_SIGN.includes(shown)) continue;
      it(`is upstream_invalid with pagination ${kind}, by ${shown}`, async () => {
        const handler = platform(
          (url) => (queryOf(url, 'offset') === 0 || kind !== 'offset' ? answer : {}),
          (url) => (queryOf(url, 'offset') > 0 || queryOf(url, 'page', 1) > 1 ? 120 : 0),
        );
        // A figure that the platform states is not to be ignored.
        const ignoring = sign === 'total' || sign === 'pages' ? [] : [`pagination.ignoreSigns: [${sign}]`];
        const words = [`sign: ${sign}`, ...ignoring];
        const { lines } = await expectRefused(handler, { ...(pagination && { pagination }) }, ...words);
        const line = lines.find(({ msg }) => msg === 'request');
        expect(line?.['reason']).to.contain(`(${sign}: `).and.to.contain('pagination.kind');
      });
    }
  }

  for (const [shown, [sign, answer]] of Object.entries(SHOWN)) {
    it(`is served when ignoreSigns names the sign, and not when it names the others: ${shown}`, async () => {
      const handler = platform(() => answer);
      const ignoring = (ignoreSigns: readonly string[]) => ({ pagination: { kind: 'none', ignoreSigns } });
      await expectServed(handler, ignoring([sign]), 25);
      const others = Object.values(SHOWN).flatMap(([other]) => (other === sign ? [] : [other]));
      await expectRefused(handler, ignoring(others));
    });
  }

  it('is upstream_invalid by a sign in a page that a thread parses', async () => {
    const large = projects.slice(0, 25).map((project) => ({ ...project, description: 'x'.repeat(5000) }));
    const handler = platform(() => ({ body: { projects: large, meta: { total: 120 } } }));
    await expectRefused(handler, { pagination: { kind: 'none' } }, 'sign: total');
  });

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

describe('a full page of a platform that does not mark the last page', () => {
  /** Has `total` projects, and as many on a page as `limit` says. */
  const limited = (say: (url: URL) => Answer = () => ({}), total = 120) =>
    platform(
      say,
      (url) => queryOf(url, 'after'),
      (url) => Math.min(queryOf(url, 'limit', 10), total - queryOf(url, 'after')),
    );
  const none = { pagination: { kind: 'none' }, query: { limit: '50' } };
  const of = (kind: string, more: object = {}) => ({ pagination: { kind, sizeParam: 'limit', size: 50, ...more } });

  for (const [name, resource] of Object.entries({
    'none, with a size in the query': none,
    token: of('token'),
    link: of('link'),
    'link in body': of('link', { next: 'elsewhere' }),
  })) {
    it(`is upstream_invalid, and served when that is ignored: ${name}`, async () => {
      await expectRefused(limited(), resource, 'fullPage');
      const pagination = { ...resource.pagination, ignoreSigns: ['fullPage'] };
      expect((await read(limited(), { ...resource, pagination })).status).to.equal(200);
    });
  }

  for (const [name, resource, member] of [
    ['none, and count', none, 'count'],
    ['none, and result_count', none, 'result_count'],
    ['token, and count', of('token'), 'count'],
    ['link, and total', of('link'), 'total'],
    ['link, whose total is said to be that count', of('link', { total: 'total' }), 'total'],
  ] as const) {
    it(`is upstream_invalid when the total counts only the page: ${name}`, async () => {
      const counted = limited((url) => ({ body: { [member]: queryOf(url, 'limit') } }));
      await expectRefused(counted, resource, 'fullPage');
    });
  }

  it('is complete when the total equals the size in the query', async () => {
    const counted = limited(() => ({ body: { total: 50 } }), 50);
    await expectServed(counted, none, 50);
  });

  it('is complete when a shorter page has a next link', async () => {
    const leads = (url: URL): Answer => {
      const end = queryOf(url, 'after') + queryOf(url, 'limit');
      return end < 50 ? { headers: { Link: `</v1/projects?limit=49&after=${end}>; rel="next"` } } : {};
    };
    const requests = await expectServed(limited(leads, 50), of('link'), 50);
    expect(requests).to.deep.equal(['/v1/projects?limit=50', '/v1/projects?limit=49']);
  });

  it('is upstream_invalid when the platform rejects the shorter size, and upstream_failed when it fails', async () => {
    for (const [answered, code] of [
      [400, 'upstream_invalid'],
      [422, 'upstream_invalid'],
      [500, 'upstream_failed'],
    ] as const) {
      const { body } = await read(answering(answered, 'limit=49', limited()), of('link'));
      expect(body).to.include({ status: 502, code });
    }
  });

  for (const [name, end] of Object.entries<Answer>({
    'an empty token': { body: { nextPageToken: '' } },
    'a null link': { body: { next: null } },
    'has_more: false': { body: { has_more: false } },
    'a total': { body: { total: 50 } },
    'a total in a header': { headers: { 'X-Total-Count': '50' } },
    'one page of one': { body: { total_pages: 1 } },
    'a Link header without next': { headers: { Link: '</v1/projects?after=0>; rel="first"' } },
  })) {
    it(`is complete when the platform marks the end by ${name}`, async () => {
      const requests = await expectServed(
        limited(() => end, 50),
        of('token'),
        50,
      );
      // A total may be that of the page: the second page has to tell the same.
      expect(requests).to.have.length(name === 'a total' ? 2 : 1);
    });
  }
});

/** Answers with a status where the target says so. */
function answering(status: number, part: string, otherwise: RequestListener): RequestListener {
  return (request, response) =>
    request.url?.includes(part) ? response.writeHead(status).end() : otherwise(request, response);
}

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

describe('a list by offset without a total', () => {
  const resource = { pagination: { kind: 'offset', sizeParam: 'limit', offsetParam: 'page' } };
  const start = (url: URL) => queryOf(url, 'page');

  it('is upstream_invalid when the platform reads the offset as a page number', async () => {
    for (const from of [0, 1]) {
      const handler = platform(
        undefined,
        (url) => Math.max(0, start(url) - from) * 100,
        () => 100,
      );
      const words = ['100 items', 'pagination.offsetParam', '[fullPage]'];
      const { requests } = await expectRefused(handler, resource, ...words);
      expect(requests.length).to.be.greaterThan(2);
    }
  });

  it('is complete when the offset of the last item returns only that item', async () => {
    let reply = 0;
    const handler = platform((url) => {
      reply += 1;
      const page = projects.slice(start(url), start(url) + 50);
      return { body: { projects: page.map((each) => ({ ...each, url: reply })) } };
    });
    expect(await expectServed(handler, resource, 120)).to.include('/v1/projects?limit=100&page=119');
  });

  it('is upstream_invalid when the platform rejects that offset', async () => {
    const handler = platform(undefined, start, () => 50);
    await expectRefused(answering(422, 'page=119', handler), resource);
  });
});

describe('a total that equals the size of a full page', () => {
  it('is upstream_invalid, unless a shorter page has the same total', async () => {
    for (const kind of ['offset', 'page']) {
      const pagination = { kind, sizeParam: 'limit', size: 50, total: 'sum' };
      for (const isReal of [false, true]) {
        const size = (url: URL) => queryOf(url, 'limit');
        const handler = platform((url) => ({ body: { sum: isReal ? 50 : size(url) } }), undefined, size);
        const { status, requests } = await read(handler, { pagination });
        expect(status, kind).to.equal(isReal ? 200 : 502);
        expect(requests[1]).to.contain('limit=49');
      }
    }
  });
});
