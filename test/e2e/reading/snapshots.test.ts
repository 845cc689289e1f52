import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { captureLog } from '../../core/log/captured-log.ts';
import { type RunningGateway, settingsFor, startGateway } from '../../support/gateway.ts';
import { type HttpUpstream, listOf, startHttpUpstream } from '../../support/platform/http-upstream.ts';

const MINUTE = 60_000;

/** What the platform does with a request; by default it counts them and responds at once. */
type Behaviour = (response: ServerResponse, resource: string) => void;

describe('cached reads', () => {
  let platform: HttpUpstream;
  let running: RunningGateway;
  let behave: Behaviour;
  let clock: number;
  let log: ReturnType<typeof captureLog>;

  /** Items that tell which request they respond to. */
  const respond: Behaviour = (response, resource) => {
    const items = Array.from({ length: 40 }, (_, index) => ({
      id: `${resource}-${platform.requests.length}-${index}`,
      name: 'N',
    }));
    response.end(JSON.stringify({ [resource]: items, nextPageToken: '' }));
  };
  const status =
    (code: number): Behaviour =>
    (response) =>
      response.writeHead(code).end();
  const read = (name: string, headers: Record<string, string> = {}) =>
    running.read(name, { headers: { 'accept-encoding': 'identity', ...headers } });
  /** Status, Cache-Control, Age and Cache-Status of a response. */
  const said = ({ status, headers }: Response) =>
    [status, ...['cache-control', 'age', 'cache-status'].map((name) => headers.get(name) ?? '-')].join(' | ');

  beforeEach(async () => {
    clock = 1_800_000_000_000;
    behave = respond;
    platform = await startHttpUpstream((request, response) => {
      behave(response, listOf(request));
    });
    log = captureLog();
    const settings = settingsFor(platform.url, {
      upstream: { retry: { attempts: 0 }, rememberRejectedMs: 0, timeoutMs: 2000 },
    });
    running = await startGateway(settings, { now: () => clock, logger: log.logger });
  });

  it('are hits while fresh, and 304 to a matching ETag', async () => {
    const first = await read('tools');
    expect(said(first)).to.equal('200 | private, max-age=60 | - | portico; fwd=miss; stored');
    clock += 20_000;
    const second = await read('tools');
    expect(said(second)).to.equal('200 | private, max-age=60 | 20 | portico; hit; ttl=40');
    expect(await second.text()).to.equal(await first.text());
    // Node's fetch adds no-cache to a conditional request, unless it has a Cache-Control of its own.
    const conditional = { 'if-none-match': first.headers.get('etag') ?? '', 'cache-control': 'max-age=60' };
    const third = await read('tools', conditional);
    expect(said(third)).to.equal('304 | private, max-age=60 | 20 | portico; hit; ttl=40');
    expect(platform.requests).to.have.length(1);
    expect((await log.access(3)).map(({ cache }) => cache)).to.deep.equal(['miss', 'hit', 'hit']);
  });

  it('return the stale list with the reason during an outage, then the error', async () => {
    await read('tools');
    clock += 10 * MINUTE;
    behave = status(500);
    const stale = '200 | private, max-age=0 | 600 | portico; fwd=stale;';
    expect(said(await read('tools'))).to.equal(`${stale} fwd-status=500; ttl=-540; detail=upstream-failed`);
    behave = () => {};
    expect(said(await read('tools'))).to.equal(`${stale} ttl=-540; detail=upstream-timeout`);
    clock += 60 * MINUTE;
    behave = status(500);
    expect(said(await read('tools'))).to.equal('502 | no-store | - | -');
    const lines = await log.access(4);
    expect(lines.map(({ cache }) => cache)).to.deep.equal(['miss', 'stale', 'stale', undefined]);
  });

  it('are renewed by a 304 of the platform', async () => {
    behave = (response, resource) => {
      const known = platform.requests.at(-1)?.headers['if-none-match'] === '"v1"';
      response.setHeader('etag', '"v1"');
      if (known) response.writeHead(304).end();
      else respond(response, resource);
    };
    const first = await read('tools');
    clock += 10 * MINUTE;
    const second = await read('tools');
    expect(said(second)).to.equal('200 | private, max-age=60 | - | portico; fwd=stale; fwd-status=304; stored');
    expect(await second.text()).to.equal(await first.text());
    clock += 30_000;
    expect(said(await read('tools'))).to.equal('200 | private, max-age=60 | 30 | portico; hit; ttl=30');
    // Projects are not held, so there is nothing to ask about.
    await read('projects');
    await read('projects');
    const tags = platform.requests.map(({ headers }) => headers['if-none-match']);
    expect(tags).to.deep.equal([undefined, '"v1"', undefined, undefined]);
  });
});
