import { expect } from 'chai';
import { createTails } from '../../../src/capabilities/tracing/recorded-span.ts';
import type { Events } from '../../../src/core/kernel/events.ts';
import { json, lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { LOADED, READ, startTraced, TOOLS, UNSAMPLED } from './traced.ts';

const RARE = { tracing: { sampleRatio: 0 } };
const call = (name: string) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } });

describe('the trace of a request that was not sampled', () => {
  it('is exported whole if the request fails, with its request id', async () => {
    const upstream = await startHttpUpstream(json({}, 500));
    const { collector, read, end } = await startTraced(upstream.url, { ...RARE, upstream: { retry: { attempts: 0 } } });
    const response = await read('tools');
    expect(response.status).to.equal(502);
    await end();
    expect(collector.tree()).to.deep.equal({ [`1 SERVER ${READ}`]: { '1 INTERNAL read tools': LOADED } });
    const { attributes, traceId } = collector.one(READ);
    expect(attributes['portico.request.id']).to.equal(response.headers.get('x-request-id'));
    // The platform was called before the failure was known.
    expect(upstream.requests[0]?.headers['traceparent']).to.match(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
  });

  it('is exported if a tool returns an error, and not if the request succeeds or is refused', async () => {
    const upstream = await startHttpUpstream(lists(TOOLS));
    const { collector, read, post, url, end } = await startTraced(upstream.url, RARE);
    expect((await read('tools')).status).to.equal(200);
    expect((await fetch(`${url}/mcp/v1/resources`)).status).to.equal(401);
    await post(call('list_installed_tools'));
    upstream.respond(json({}, 500));
    await post(call('list_installed_workflows'));
    await end();
    expect(collector.all('tools/call list_installed_workflows').map(({ failed }) => failed)).to.deep.equal([true]);
    expect(collector.all('POST /mcp')).to.have.length(1);
    expect(collector.all('tools/call list_installed_tools')).to.deep.equal([]);
    expect(collector.all(READ)).to.deep.equal([]);
  });

  it('is not exported where the caller has decided against it', async () => {
    const upstream = await startHttpUpstream(json({}, 500));
    const { collector, read, end } = await startTraced(upstream.url, RARE);
    expect((await read('tools', { headers: { traceparent: UNSAMPLED } })).status).to.equal(502);
    await end();
    expect(collector.spans).to.deep.equal([]);
  });
});

describe('the tail of a trace', () => {
  const scene = (maxSpans: number) => {
    const exported: string[] = [];
    const dropped: object[] = [];
    const events: Events = { spansDropped: (spans) => dropped.push(spans) };
    const open = createTails<string>(maxSpans, (span) => exported.push(span), events);
    return { exported, dropped, open };
  };

  it('holds a bounded number of spans of all traces, and counts what a failed one has lost', () => {
    const { exported, dropped, open } = scene(2);
    const [first, second] = [open(), open()];
    for (const tail of [first, second]) for (const name of ['a', 'b']) tail.end(name);
    second.decide(true);
    second.decide(false);
    second.end('after');
    expect(exported.splice(0)).to.deep.equal(['after']);
    expect(dropped).to.deep.equal([{ spans: 2, reason: 'queue_full' }]);
    first.decide(false);
    const third = open();
    for (const name of ['c', 'd']) third.end(name);
    third.decide(true);
    expect(exported).to.deep.equal(['c', 'd']);
  });
});
