import { expect } from 'chai';
import { captureLog } from '../../core/log/captured-log.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { json, startHttpUpstream } from '../../support/platform/http-upstream.ts';

const projects = Array.from({ length: 25 }, (_, index) => ({ id: `p-${index}`, name: `Project ${index}` }));

interface Answer {
  /** Beside the list. */
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Reads projects of a platform that serves the same page, and says this beside it, whatever it is asked for. */
async function read(say: () => Answer, resource: object) {
  const upstream = await startHttpUpstream((request, response) => {
    const { body = {}, headers = {} } = say();
    json({ projects, ...body }, 200, headers)(request, response);
  });
  const { events: _, ...log } = captureLog('info');
  const settings = settingsFor(upstream.url, {
    ...{ resources: { projects: resource }, log: { level: 'info' }, confirmation: { enabled: true } },
  });
  const { read: readName } = await startGateway(settings, { logger: log.logger });
  const response = await readName('projects');
  const body = (await response.json()) as { detail?: string; code?: string; length?: number };
  return { status: response.status, body, lines: log.lines() };
}

/** What a platform of 120 projects says on its first page of 25, by the sign that it shows. */
const SHOWN: Readonly<Record<string, readonly [string, Answer]>> = {
  'total_count beside the list': ['total', { body: { total_count: 120 } }],
  'X-Total-Count': ['total', { headers: { 'X-Total-Count': '120' } }],
  'has_more: true': ['more', { body: { has_more: true } }],
  'Link: rel=next': ['next', { headers: { Link: '</v1/projects?start=25>; rel="next"' } }],
};

describe('a list whose first page only is read by wrong pagination settings', () => {
  for (const [shown, [sign, answer]] of Object.entries(SHOWN)) {
    it(`is upstream_invalid by ${shown}, and served when ignoreSigns names the sign, not the others`, async () => {
      const reply = () => answer;
      const ignoring = (ignoreSigns: readonly string[]) => ({ pagination: { kind: 'none', ignoreSigns } });
      const { body, lines } = await read(reply, { pagination: { kind: 'none' } });
      expect(body).to.include({ code: 'upstream_invalid', upstream: 'projects' });
      expect(body.detail).to.contain(`sign: ${sign}`);
      // A figure that the platform states is not to be ignored.
      expect(body.detail?.includes('pagination.ignoreSigns')).to.equal(sign !== 'total');
      const line = lines.find(({ msg }) => msg === 'request');
      expect(line?.['reason']).to.contain(`(${sign}: `).and.to.contain('pagination.kind');
      expect((await read(reply, ignoring([sign]))).body).to.have.length(25);
      const others = Object.values(SHOWN).flatMap(([other]) => (other === sign ? [] : [other]));
      expect((await read(reply, ignoring(others))).body.code).to.equal('upstream_invalid');
    });
  }
});

describe('a list of another caller that is longer than the confirmed one', () => {
  it('is upstream_invalid if the platform has cut it', async () => {
    const upstream = await startHttpUpstream((request, response) => {
      const { searchParams } = new URL(request.url ?? '', 'http://platform.example');
      const from = Number(searchParams.get('offset') ?? 0);
      const mine = projects.slice(0, Number(request.headers.authorization?.split('-')[1]));
      json({ projects: mine.slice(from, from + Number(searchParams.get('limit') ?? 20)) })(request, response);
    });
    const resources = { projects: { pagination: { kind: 'none' as const } } };
    const settings = settingsFor(upstream.url, { resources, confirmation: { enabled: true } });
    const { read: readName } = await startGateway(settings);
    const statusOf = async (token: string) =>
      (await readName('projects', { headers: { authorization: `Bearer ${token}` } })).status;
    expect(await statusOf('has-12')).to.equal(200);
    expect(await statusOf('has-18')).to.equal(200);
    expect(await statusOf('has-21')).to.equal(502);
  });
});

describe('a complete list', () => {
  for (const [name, answer] of Object.entries<Answer>({
    'counts the items of the page': { body: { count: 25 } },
    'counts what the filter leaves, and all': { body: { meta: { filter_count: 25, total_count: 225 } } },
    'links to a next page always, and tells the end by a flag': {
      body: { links: { next: '/v1/projects?after=x' }, meta: { has_more: false } },
    },
    'tells other numbers elsewhere': { body: { account: { total: 500, next: 'x' } } },
  })) {
    it(`is served where the platform ${name}`, async () => {
      const { status, body } = await read(() => answer, { pagination: { kind: 'none' } });
      expect([status, body.length]).to.deep.equal([200, 25]);
    });
  }
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
