import type { RequestListener } from 'node:http';
import { expect } from 'chai';
import fc from 'fast-check';
import { atDepth } from '../../support/depth.ts';
import { startGateway } from '../../support/gateway.ts';
import { json, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { SEEDED } from '../../support/seed.ts';
import { list, listing, loadProposed, number, object, openApi, parameter, proposedFor, text } from './proposed.ts';

/** How a platform pages, and how much of that its document describes. */
interface Platform {
  readonly kind: 'offset' | 'page' | 'token' | 'header' | 'body';
  readonly count: number;
  /** What it gives in one page at most. */
  readonly most: number;
  readonly firstPage: 0 | 1;
  /** What it does with a page before its first: gives the first, nothing, or an error. */
  readonly before: 'first' | 'nothing' | 'error';
  /** Where its total is. */
  readonly total: 'body' | 'header' | 'nowhere';
  /** What of this its document leaves out. */
  readonly untold: Readonly<Record<'maximum' | 'firstPage' | 'position' | 'next' | 'total', boolean>>;
}

const bit = fc.boolean();
const anyPlatform: fc.Arbitrary<Platform> = fc.record({
  kind: fc.constantFrom('offset', 'page', 'token', 'header', 'body'),
  count: fc.oneof(fc.constantFrom(0, 1, 10, 20, 100), fc.integer({ min: 0, max: 120 })),
  most: fc.constantFrom(10, 25, 100),
  firstPage: fc.constantFrom(0, 1),
  before: fc.constantFrom('first', 'nothing', 'error'),
  total: fc.constantFrom('body', 'header', 'nowhere'),
  untold: fc.record({ maximum: bit, firstPage: bit, position: bit, next: bit, total: bit }),
});

/** The query parameter that says which page, by kind. */
const POSITIONS = { offset: 'offset', page: 'page', token: 'cursor', header: 'from', body: 'from' } as const;

function documentOf({ kind, most, firstPage, total, untold }: Platform): object {
  const first = kind === 'page' && !untold.firstPage ? { default: firstPage } : {};
  const schema = kind === 'token' ? text : { ...number, ...first };
  const parameters = [
    parameter('limit', { ...number, ...(!untold.maximum && { maximum: most }) }),
    // Nobody documents the parameter of a link.
    ...(untold.position || kind === 'header' || kind === 'body' ? [] : [parameter(POSITIONS[kind], schema)]),
  ];
  const beside = {
    ...(total === 'body' && !untold.total && { total: number }),
    ...(kind === 'token' && !untold.next && { nextCursor: text }),
    ...(kind === 'body' && !untold.next && { next: text }),
  };
  const headers = {
    ...(total === 'header' && !untold.total && { 'X-Total-Count': {} }),
    ...(kind === 'header' && !untold.next && { Link: {} }),
  };
  return openApi({ '/tools': listing(object({ data: list(), ...beside }), { parameters }, headers) });
}

function handlerOf({ kind, count, most, firstPage, before, total }: Platform): RequestListener {
  const all = Array.from({ length: count }, (_, index) => ({ id: `t${index}`, name: `Tool ${index}` }));
  return (request, response) => {
    const { searchParams, origin } = new URL(request.url ?? '', `http://${request.headers.host}`);
    const limit = Math.min(most, Number(searchParams.get('limit') ?? most));
    const position = Number(searchParams.get(POSITIONS[kind]) ?? (kind === 'page' ? firstPage : 0));
    if (kind === 'page' && position < firstPage && before === 'error') return json({}, 400)(request, response);
    const none = kind === 'page' && position < firstPage && before === 'nothing';
    const start = kind === 'page' ? Math.max(0, position - firstPage) * limit : position;
    const end = start + limit;
    const more = end < count;
    const next = `${origin}/tools?limit=${limit}&from=${end}`;
    const body = {
      data: none ? [] : all.slice(start, end),
      ...(total === 'body' && { total: count }),
      ...(kind === 'token' && { nextCursor: more ? String(end) : '' }),
      ...(kind === 'body' && { next: more ? next : null }),
    };
    const headers = {
      ...(total === 'header' && { 'x-total-count': String(count) }),
      ...(kind === 'header' && more && { link: `<${next}>; rel="next"` }),
    };
    json(body, 200, headers)(request, response);
  };
}

describe('settings that are proposed from an incomplete document', () => {
  it(`read a list whole, or not at all ${SEEDED}`, async () => {
    const upstream = await startHttpUpstream(json({}), { record: false });
    const outcomes = { whole: 0, error: 0, off: 0 };
    await fc.assert(
      fc.asyncProperty(anyPlatform, async (platform) => {
        const proposed = proposedFor(documentOf(platform));
        if (!proposed.offered.includes('tools')) {
          outcomes.off += 1;
          return;
        }
        const text = proposed.text.replace('https://api.acme.dev', upstream.url);
        const config = await loadProposed({ text });
        upstream.respond(handlerOf(platform));
        const quiet = {
          http: { ...config.http, port: 0 },
          admin: { enabled: false },
          log: { level: 'silent' },
        } as const;
        const { gateway, read } = await startGateway({ ...config, ...quiet });
        const response = await read('tools');
        const body = (await response.json()) as unknown[];
        await gateway.close();
        outcomes[response.status === 200 ? 'whole' : 'error'] += 1;
        if (response.status === 200) expect(body).to.have.length(platform.count);
      }),
      { numRuns: atDepth(40, 150) },
    );
    expect(outcomes.whole).to.be.above(3);
    expect(outcomes.off).to.be.above(3);
  }).timeout(60_000);
});
