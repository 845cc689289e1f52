import { expect } from 'chai';
import { captureLog } from '../../core/log/captured-log.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestSettings } from '../../support/limits.ts';
import { type HttpUpstream, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { manyTools } from '../../support/platform/loads.ts';
import { exchange, get } from '../../support/raw-http.ts';
import { callOf, postText, rpc } from '../../support/rpc.ts';

const READ = '/mcp/v1/resources/read?uri=platform://tools';
const LONG_RESULT = postText(callOf('list_installed_tools', { limit: 100 }));
const LARGE = postText(rpc('ping', { a: 'x'.repeat(2000) }));

interface Case {
  /** What is sent. @default a read */
  readonly request?: string;
  /** Settings beyond which it is. */
  readonly http?: object;
  readonly mcp?: object;
  readonly upstream?: object;
  readonly tools?: object;
  readonly all?: object;
  /** Whether a load meets it: then it names the upstream. */
  readonly upstreamNamed?: true;
}

/** The tools themselves, which are more than sixty. */
const PARENTS = { path: '/v1/tools', items: 'tools', pagination: { kind: 'token', size: 50 } } as const;

/** For each bound, by the key of its setting, what meets it in front of a platform of two pages of 50 tools. */
const CASES: Readonly<Record<string, Case>> = {
  'http.maxUrlBytes': { request: get(`${READ}&${'x'.repeat(300)}`), http: { maxUrlBytes: 256 } },
  'http.maxHeaderBytes': { request: get(READ, { 'X-A': 'x'.repeat(1100) }), http: { maxHeaderBytes: 1024 } },
  'http.maxHeldBodyBytes': { request: LARGE, http: { maxHeldBodyBytes: 1024 } },
  'mcp.maxBodyBytes': { request: LARGE, mcp: { maxBodyBytes: 1024 } },
  'mcp.maxMessageValues': { request: postText(rpc('ping', { a: Array(200).fill(0) })), mcp: { maxMessageValues: 100 } },
  'mcp.maxResultBytes': { request: LONG_RESULT, mcp: { maxResultBytes: 1024 } },
  maxPageBytes: { upstream: { maxPageBytes: 1024 }, upstreamNamed: true },
  maxPageValues: { tools: { maxPageValues: 1000 }, upstreamNamed: true },
  maxNextBytes: { tools: { maxNextBytes: 64 }, upstreamNamed: true },
  maxItems: { tools: { maxItems: 60 }, upstreamNamed: true },
  maxParents: {
    tools: { maxParents: 60, each: PARENTS, path: '/v1/{parent.id}' },
    upstreamNamed: true,
  },
  maxPages: { tools: { maxPages: 1 }, upstreamNamed: true },
  maxReadBytes: { tools: { maxReadBytes: 120_000 }, upstreamNamed: true },
  maxLoadingBytes: { all: { maxLoadingBytes: 80_000 }, upstreamNamed: true },
};

describe('a bound that is reached', () => {
  let platform: HttpUpstream;

  before(async () => {
    const items = manyTools(100);
    const filler = 'x'.repeat(70_000);
    platform = await startHttpUpstream((request, response) => {
      const isSecond = request.url?.includes('pageToken') === true;
      const tools = isSecond ? items.slice(50) : items.slice(0, 50);
      response.setHeader('Content-Type', 'application/json');
      const nextPageToken = isSecond ? '' : 'a token of some length'.padEnd(65, '.');
      response.end(JSON.stringify({ tools, filler, marks: Array(1000).fill(0), nextPageToken }));
    });
  });

  for (const [bound, { request = get(READ), http, mcp, upstream, tools, all, upstreamNamed }] of Object.entries(
    CASES,
  )) {
    it(`is logged with the key of its setting and the request id: ${bound}`, async () => {
      const log = captureLog();
      const settings = {
        ...{ http: { ...http }, mcp: { ...mcp } },
        upstreams: { tools: { baseUrl: platform.url, ...upstream } },
        resources: {
          projects: { enabled: false },
          workflows: { enabled: false },
          tools: { upstream: 'tools', ...tools },
        },
        ...all,
      } as TestSettings;
      const { url } = await startGateway(settings, { logger: log.logger });
      await exchange(url, request);
      const [access] = await log.access(1);
      const told = log.lines().filter(({ msg }) => msg === 'limit reached');
      expect(told.length).to.equal(1);
      expect(told[0]).to.include({ bound, requestId: access?.['requestId'] });
      expect(told[0]?.['upstream']).to.equal(upstreamNamed && 'tools');
    });
  }
});
