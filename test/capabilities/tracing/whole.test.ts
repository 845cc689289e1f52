import { expect } from 'chai';
import fc from 'fast-check';
import { atDepth } from '../../support/depth.ts';
import { json, lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { bodyOf, RPC_FIELDS, readOf } from '../../support/rpc.ts';
import { SEEDED } from '../../support/seed.ts';
import { PARENT, SAMPLED, startTraced, TOOLS } from './traced.ts';

const NAMES = ['projects', 'workflows', 'tools'] as const;
const ITEMS = { projects: TOOLS.tools, workflows: TOOLS.tools, tools: TOOLS.tools };

/** What a caller does, and what the platform does meanwhile. */
const asking = fc.record({
  name: fc.constantFrom(...NAMES),
  over: fc.constantFrom('http', 'mcp'),
  token: fc.constantFrom('token-a', 'token-b'),
  noCache: fc.boolean(),
  /** Leaves after so many milliseconds. */
  leaves: fc.option(fc.integer({ min: 0, max: 10 }), { nil: undefined }),
  parent: fc.constantFrom(undefined, SAMPLED),
});
const behaving = fc.constantFrom('serves', 'fails', 'is slow', 'refuses', 'breaks off');

describe('a trace under random callers and platforms', () => {
  it(`is whole: each span that began has ended, below one that did ${SEEDED}`, async () => {
    let behave = 'serves';
    const upstream = await startHttpUpstream((request, response) => {
      if (behave === 'fails') json({}, 503)(request, response);
      else if (behave === 'refuses') json({}, 401)(request, response);
      else if (behave === 'breaks off') request.socket.destroy();
      else setTimeout(() => lists(ITEMS)(request, response), behave === 'is slow' ? 20 : 0);
    });
    const breaker = { minimumCalls: 10, openMs: 10 };
    const { collector, url, end } = await startTraced(upstream.url, {
      tracing: { maxQueueSpans: 100_000 },
      upstream: { retry: { baseDelayMs: 1 }, breaker, rememberRejectedMs: 1, timeoutMs: 200 },
    });
    let requests = 0;

    async function ask({ name, over, token, noCache, leaves, parent }: Asking): Promise<void> {
      requests += 1;
      const headers = {
        ...{ authorization: `Bearer ${token}`, ...RPC_FIELDS },
        ...(noCache && { 'cache-control': 'no-cache' }),
        ...(parent !== undefined && { traceparent: parent }),
      };
      const body = bodyOf(readOf(name));
      const target = over === 'http' ? `/mcp/v1/resources/read?uri=platform://${name}` : '/mcp';
      const signal = leaves === undefined ? null : AbortSignal.timeout(leaves);
      await fetch(`${url}${target}`, { headers, ...(over !== 'http' && { method: 'POST', body }), signal })
        .then((response) => response.arrayBuffer())
        .catch((error) => expect(error.name).to.equal('TimeoutError'));
    }

    const runs = fc.array(fc.tuple(behaving, fc.array(asking, { minLength: 1, maxLength: 8 })), { maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(runs, async (rounds) => {
        for (const [behaviour, askings] of rounds) {
          behave = behaviour;
          await Promise.all(askings.map(ask));
        }
      }),
      { numRuns: atDepth(8, 30) },
    );
    await end();

    const { spans } = collector;
    const ids = new Set(spans.map(({ spanId }) => spanId));
    const lost = spans.filter(({ parentId }) => !['', PARENT.spanId].includes(parentId) && !ids.has(parentId));
    expect(lost).to.deep.equal([]);
    expect(spans.flatMap(({ links }) => links).filter((link) => !ids.has(link))).to.deep.equal([]);
    expect(ids.size).to.equal(spans.length);
    // A caller may leave before its request has come.
    const edges = spans.filter(({ attributes }) => 'url.scheme' in attributes).length;
    expect(edges).to.be.within(1, requests);
    const calls = spans.filter(({ kind }) => kind === 'CLIENT');
    expect(calls.length).to.be.at.least(upstream.requests.length);
    const sent = new Set(calls.map(({ spanId }) => spanId));
    for (const { headers } of upstream.requests) expect(sent).to.include(headers['traceparent']?.slice(36, 52));
  });
});

type Asking = typeof asking extends fc.Arbitrary<infer T> ? T : never;
