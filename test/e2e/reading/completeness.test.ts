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

/** Serves the first 25 projects whatever it is asked for, unless `skip` says otherwise, and counts them in `came`. */
function platform(say: (url: URL) => Answer, skip = (_url: URL) => 0, size = (_url: URL) => 25): RequestListener {
  return (request, response) => {
    const url = new URL(request.url ?? '/', 'http://platform');
    const { body = {}, headers = {} } = say(url);
    const start = skip(url);
    response.writeHead(200, { 'content-type': 'application/json', ...headers });
    const page = projects.slice(start, start + size(url));
    response.end(JSON.stringify({ projects: page, came: page.length, ...body }));
  };
}

async function read(handler: RequestListener, resource: object) {
  const upstream = await startHttpUpstream(handler);
  const { events: _, ...log } = captureLog('info');
  const { read: readName } = await startGateway(
    settingsFor(upstream.url, { resources: { projects: resource }, log: { level: 'info' } }),
    { logger: log.logger },
  );
  const response = await readName('projects');
  const body = (await response.json()) as { detail?: string; code?: string; length?: number };
  return { status: response.status, body, lines: log.lines(), requests: upstream.requests.map(({ url }) => url) };
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
  'total beside the list',
  'X-Total-Count',
  'total_pages',
  'has_more: true',
  'a next link',
  'Link: rel=next',
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
          ({ searchParams }) => ((searchParams.get('offset') ?? '0') === '0' || kind !== 'offset' ? answer : {}),
          ({ searchParams }) =>
            Number(searchParams.get('offset') ?? 0) > 0 || Number(searchParams.get('page') ?? 1) > 1 ? 120 : 0,
        );
        const { status, body, lines } = await read(handler, { ...(pagination && { pagination }) });
        expect(body).to.include({ code: 'upstream_invalid', upstream: 'projects' });
        expect(status).to.equal(502);
        expect(body.detail).to.contain(`sign: ${sign}`).and.to.contain(`pagination.ignoreSigns: [${sign}]`);
        const line = lines.find(({ msg }) => msg === 'request');
        expect(line?.['reason']).to.contain(`(${sign}: `).and.to.contain('pagination.kind');
      });
    }
  }

  for (const [shown, [sign, answer]] of Object.entries(SHOWN)) {
    it(`is served when ignoreSigns names the sign, and not when it names the others: ${shown}`, async () => {
      const handler = platform(() => answer);
      const ignoring = (ignoreSigns: readonly string[]) => read(handler, { pagination: { kind: 'none', ignoreSigns } });
      const { status, body } = await ignoring([sign]);
      expect([status, body.length]).to.deep.equal([200, 25]);
      const others = Object.values(SHOWN).flatMap(([other]) => (other === sign ? [] : [other]));
      expect((await ignoring(others)).status).to.equal(502);
    });
  }

  it('is upstream_invalid by a sign in a page that a thread parses', async () => {
    const large = projects.slice(0, 25).map((project) => ({ ...project, description: 'x'.repeat(5000) }));
    const { status, body } = await read(
      platform(() => ({ body: { projects: large, meta: { total: 120 } } })),
      { pagination: { kind: 'none' } },
    );
    expect(body.detail).to.contain('sign: total');
    expect(status).to.equal(502);
  });

  it('is upstream_invalid when pages are numbered from 0 and firstPage is 1', async () => {
    const handler = platform(
      ({ searchParams }) => ({ body: { prev: searchParams.get('page') === '0' ? null : '/v1/projects?page=0' } }),
      ({ searchParams }) => Number(searchParams.get('page')) * 25,
    );
    const wrong = await read(handler, { pagination: { kind: 'page' } });
    expect(wrong.body.detail).to.contain('sign: previous');
    expect(wrong.status).to.equal(502);
    const right = await read(handler, { pagination: { kind: 'page', firstPage: 0 } });
    expect(right.body.length).to.equal(120);
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
  const limited = (parameter: string, say: (url: URL) => Answer = () => ({}), total = 120): RequestListener =>
    platform(
      say,
      ({ searchParams }) => Number(searchParams.get('after') ?? 0),
      ({ searchParams }) =>
        Math.min(Number(searchParams.get(parameter) ?? 10), total - Number(searchParams.get('after') ?? 0)),
    );

  const WRONG: Readonly<Record<string, object>> = {
    'none, with a size in the query': { pagination: { kind: 'none' }, query: { limit: '50' } },
    token: { pagination: { kind: 'token', sizeParam: 'limit', size: 50 } },
    link: { pagination: { kind: 'link', sizeParam: 'limit', size: 50 } },
    'link in body': { pagination: { kind: 'link', sizeParam: 'limit', size: 50, next: 'elsewhere' } },
    'token, one item a page': { pagination: { kind: 'token', sizeParam: 'limit', size: 1 } },
  };
  for (const [name, resource] of Object.entries(WRONG)) {
    it(`is upstream_invalid: ${name}`, async () => {
      const { status, body } = await read(limited('limit'), resource);
      expect(body.detail).to.contain('sign: fullPage');
      expect(status).to.equal(502);
      const { pagination } = resource as { pagination: object };
      const off = { ...resource, pagination: { ...pagination, ignoreSigns: ['fullPage'] } };
      expect((await read(limited('limit'), off)).status).to.equal(200);
    });
  }

  const COUNTED: Readonly<Record<string, readonly [object, string]>> = {
    'none, and count': [{ pagination: { kind: 'none' }, query: { limit: '50' } }, 'count'],
    'none, and result_count': [{ pagination: { kind: 'none' }, query: { limit: '50' } }, 'result_count'],
    'token, and count': [{ pagination: { kind: 'token', sizeParam: 'limit', size: 50 } }, 'count'],
    'link, and total': [{ pagination: { kind: 'link', sizeParam: 'limit', size: 50 } }, 'total'],
    'link, whose total is said to be that count': [
      { pagination: { kind: 'link', sizeParam: 'limit', size: 50, total: 'total' } },
      'total',
    ],
  };
  for (const [name, [resource, member]] of Object.entries(COUNTED)) {
    it(`is upstream_invalid when the total counts only the page: ${name}`, async () => {
      const counted = limited('limit', ({ searchParams }) => ({
        body: { [member]: Number(searchParams.get('limit')) },
      }));
      const { status, body } = await read(counted, resource);
      expect(status).to.equal(502);
      expect(body.detail).to.contain('sign: fullPage');
    });
  }

  it('is complete when the total equals the size in the query', async () => {
    const { status, body } = await read(
      limited('limit', () => ({ body: { total: 50 } }), 50),
      { pagination: { kind: 'none' }, query: { limit: '50' } },
    );
    expect(status).to.equal(200);
    expect(body.length).to.equal(50);
  });

  it('is complete when a shorter page has a next link', async () => {
    const leads = (url: URL): Answer => {
      const end = Number(url.searchParams.get('after') ?? 0) + Number(url.searchParams.get('limit'));
      return end < 50 ? { headers: { Link: `</v1/projects?limit=49&after=${end}>; rel="next"` } } : {};
    };
    const { status, body, requests } = await read(limited('limit', leads, 50), {
      pagination: { kind: 'link', sizeParam: 'limit', size: 50 },
    });
    expect(status).to.equal(200);
    expect(body.length).to.equal(50);
    expect(requests).to.deep.equal(['/v1/projects?limit=50', '/v1/projects?limit=49']);
  });

  it('is complete when a page of two returns one item', async () => {
    const { status, requests } = await read(limited('limit', undefined, 1), {
      pagination: { kind: 'token', sizeParam: 'limit', size: 1 },
    });
    expect(status).to.equal(200);
    expect(requests).to.deep.equal(['/v1/projects?limit=1', '/v1/projects?limit=2']);
  });

  it('is upstream_invalid when the platform rejects the shorter size, and upstream_failed when it fails', async () => {
    for (const [answered, code] of [
      [400, 'upstream_invalid'],
      [422, 'upstream_invalid'],
      [500, 'upstream_failed'],
    ] as const) {
      const inner = limited('limit');
      const handler: RequestListener = (request, response) => {
        if (request.url?.includes('limit=49')) response.writeHead(answered).end();
        else inner(request, response);
      };
      const { status, body } = await read(handler, { pagination: { kind: 'link', sizeParam: 'limit', size: 50 } });
      expect(status).to.equal(502);
      expect(body.code).to.equal(code);
    }
  });

  const ENDS: Readonly<Record<string, Answer>> = {
    'an empty token': { body: { nextPageToken: '' } },
    'a null link': { body: { next: null } },
    'has_more: false': { body: { has_more: false } },
    'a total': { body: { total: 50 } },
    'a total in a header': { headers: { 'X-Total-Count': '50' } },
    'one page of one': { body: { total_pages: 1 } },
    'a Link header without next': { headers: { Link: '</v1/projects?after=0>; rel="first"' } },
  };
  for (const [name, end] of Object.entries(ENDS)) {
    it(`is complete when the platform marks the end by ${name}`, async () => {
      const { status, requests } = await read(
        limited('limit', () => end, 50),
        {
          pagination: { kind: 'token', sizeParam: 'limit', size: 50 },
        },
      );
      expect(status).to.equal(200);
      // A total may be that of the page: the second page has to tell the same.
      expect(requests).to.have.length(name === 'a total' ? 2 : 1);
    });
  }
});

describe('a complete list', () => {
  const whole: Readonly<Record<string, Answer>> = {
    'counts the items of the page': { body: { count: 25 } },
    'counts what the filter leaves, and all': { body: { meta: { filter_count: 25, total_count: 225 } } },
    'says the size and number of the page': { body: { page: 1, size: 25, limit: 100, per_page: 25 } },
    'links to a next page always, and tells the end by a flag': {
      body: { links: { next: '/v1/projects?after=x' }, meta: { has_more: false } },
    },
    'counts fewer than it sends': { body: { total: 5 } },
    'has one page though it is empty': { body: { projects: [], total_pages: 1 } },
    'tells other numbers elsewhere': { body: { account: { total: 500, next: 'x' } } },
  };
  for (const [name, answer] of Object.entries(whole)) {
    it(`is served where the platform ${name}`, async () => {
      const { status, body } = await read(
        platform(() => answer),
        { pagination: { kind: 'none' } },
      );
      expect(status).to.equal(200);
      expect(body.length).to.equal('projects' in (answer.body ?? {}) ? 0 : 25);
    });
  }

  it('may change its total between pages', async () => {
    for (const totals of [
      [50, 51],
      [51, 50],
    ]) {
      const handler = platform(
        ({ searchParams }) =>
          searchParams.has('pageToken')
            ? { body: { total: totals[1] } }
            : { body: { total: totals[0], nextPageToken: '25' } },
        ({ searchParams }) => Number(searchParams.get('pageToken') ?? 0),
      );
      const { status, body } = await read(handler, { pagination: { kind: 'token', total: 'total' } });
      expect(status).to.equal(200);
      expect(body.length).to.equal(50);
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
    const { read: readName } = await startGateway(
      settingsFor(upstream.url, { resources: { tools: { pagination: { kind: 'none' }, cache } } }),
      { now: () => now },
    );
    const statusOf = async (token?: string) => {
      now += 2000;
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      return (await readName('tools', { headers })).status;
    };
    expect(await statusOf()).to.equal(200);
    expect(await statusOf()).to.equal(200);
    expect(upstream.requests.at(-1)?.headers).to.include({ 'if-none-match': '"1"' });
    more = true;
    expect(await statusOf('another-token')).to.equal(502);
    const asked = upstream.requests.length;
    expect(await statusOf()).to.equal(502);
    expect(upstream.requests.slice(asked).map(({ headers }) => headers['if-none-match'])).to.deep.equal([
      '"1"',
      undefined,
    ]);
  });
});

describe('a list by offset without a total', () => {
  const PAGED = { kind: 'offset', sizeParam: 'limit', offsetParam: 'page' };

  it('is upstream_invalid when the platform reads the offset as a page number', async () => {
    for (const from of [0, 1]) {
      const handler = platform(
        () => ({}),
        ({ searchParams }) => Math.max(0, Number(searchParams.get('page')) - from) * 100,
        () => 100,
      );
      const { status, body, requests } = await read(handler, { pagination: PAGED });
      expect(status).to.equal(502);
      expect(body.code).to.equal('upstream_invalid');
      expect(body.detail).to.contain('100 items').and.to.contain('pagination.offsetParam').and.to.contain('[fullPage]');
      expect(requests.at(-1)).to.contain('page=99');
    }
  });

  it('is complete when the offset of the last item returns only that item', async () => {
    let reply = 0;
    const handler = platform(({ searchParams }) => {
      reply += 1;
      const start = Number(searchParams.get('page'));
      return { body: { projects: projects.slice(start, start + 50).map((each) => ({ ...each, url: reply })) } };
    });
    const { status, body, requests } = await read(handler, { pagination: PAGED });
    expect(status).to.equal(200);
    expect(body.length).to.equal(120);
    expect(requests.at(-1)).to.contain('page=119');
  });

  it('is upstream_invalid when the platform rejects that offset', async () => {
    const inner = platform(
      () => ({}),
      ({ searchParams }) => Number(searchParams.get('page')),
      () => 50,
    );
    const { status, body } = await read(
      (request, response) =>
        request.url?.includes('page=119') ? response.writeHead(422).end() : inner(request, response),
      { pagination: PAGED },
    );
    expect(status).to.equal(502);
    expect(body.code).to.equal('upstream_invalid');
  });
});

describe('a total that equals the size of a full page', () => {
  it('is upstream_invalid, unless a shorter page has the same total', async () => {
    for (const kind of ['offset', 'page']) {
      const pagination = { kind, sizeParam: 'limit', size: 50, total: 'sum' };
      for (const isReal of [false, true]) {
        const size = ({ searchParams }: URL) => Number(searchParams.get('limit'));
        const handler = platform((url) => ({ body: { sum: isReal ? 50 : size(url) } }), undefined, size);
        const { status, requests } = await read(handler, { pagination });
        expect(status, kind).to.equal(isReal ? 200 : 502);
        expect(requests[1]).to.contain('limit=49');
      }
    }
  });
});
