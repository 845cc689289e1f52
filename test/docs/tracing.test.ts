import { expect } from 'chai';
import { traceReplicas } from '../capabilities/tracing/replicas.ts';
import { startTraced } from '../capabilities/tracing/traced.ts';
import { ENVELOPE } from '../core/mcp/asked.ts';
import { codeBlocks, readDoc } from '../support/docs.ts';
import { inTurn, json, startHttpUpstream } from '../support/platform/http-upstream.ts';
import type { Collector, ReceivedSpan } from '../support/process/collector.ts';

const PAGE = readDoc('docs/tracing.md');

/** The column in which they begin. */
const REMARKS = 41;

/** What the page calls a span. */
function aboutOf({ kind, name, attributes }: ReceivedSpan): string {
  if (kind === 'CLIENT') return 'call';
  if (kind === 'INTERNAL') return name.split(' ', 1).join();
  return 'http.request.method' in attributes ? 'request' : 'operation';
}

/** The page's drawing without its remarks, and how often each call was sent before. */
function drawn(): string[] {
  const [block = ''] = codeBlocks('docs/tracing.md', 'text');
  return block
    .trimEnd()
    .split('\n')
    .map((line) => (line.includes('resend_count') ? line : line.slice(0, REMARKS)))
    .map((line) => line.replaceAll(/[ └├│]+/g, ' ').trim());
}

function told({ spans }: Collector, parentId = ''): string[] {
  return spans
    .filter((span) => span.parentId === parentId)
    .sort((one, other) => Number(one.begun - other.begun))
    .flatMap((span) => {
      const resends = span.attributes['http.request.resend_count'];
      const more = resends === undefined ? '' : ` http.request.resend_count ${resends}`;
      return [`${span.kind} ${span.name}${more}`, ...told({ spans } as Collector, span.spanId)];
    });
}

describe('the page of traces', () => {
  it('shows the spans of a read', async () => {
    const page = (id: string, nextPageToken: string) => json({ tools: [{ id, name: 'A' }], nextPageToken });
    const upstream = await startHttpUpstream(inTurn(page('a', 'b'), json({}, 503), json({}, 503), page('b', '')));
    const { collector, read, end } = await startTraced(upstream.url, { upstream: { retry: { baseDelayMs: 1 } } });
    expect((await read('tools')).status).to.equal(200);
    await end();
    expect(drawn()).to.deep.equal(told(collector));
  });

  it('describes exactly the attributes that spans have', async () => {
    const list = { tools: [{ id: 'a', name: 'A' }], nextPageToken: '' };
    const upstream = await startHttpUpstream(inTurn(json({}, 503), json(list), json({}, 500)));
    const clock = { now: 1_800_000_000_000 };
    const { collector, read, post, end } = await startTraced(
      upstream.url,
      { upstream: { retry: { baseDelayMs: 1 }, breaker: { minimumCalls: 1000 } } },
      { now: () => clock.now },
    );
    await read('tools');
    clock.now += 61_000;
    await read('tools');
    await read('workflows');
    for (const [method, params, name] of [
      ['resources/read', { uri: 'platform://tools' }, 'platform://tools'],
      ['tools/call', { name: 'list_installed_workflows' }, 'list_installed_workflows'],
      ['resources/read', { uri: 'platform://workflows' }, 'platform://workflows'],
    ] as const) {
      const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, 'mcp-name': name };
      await post({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: ENVELOPE } }, headers);
    }
    await traceReplicas(collector);
    await end();
    const had = new Map<string, Set<string>>();
    for (const span of collector.spans) {
      for (const name of Object.keys(span.attributes)) had.set(name, (had.get(name) ?? new Set()).add(aboutOf(span)));
    }
    const rows = [...PAGE.matchAll(/^\| (`[^|]+`) \| ([^|]+) \| .+ \|$/gm)].flatMap(([, names = '', on = '']) =>
      [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']): [string, string[]] => [name, on.split(', ').sort()]),
    );
    const all = ['call', 'load', 'operation', 'page', 'read', 'refresh', 'request'];
    const shown = rows.map(([name, on]) => [name, on.join() === 'all' ? all : on]);
    expect(Object.fromEntries(shown)).to.deep.equal(
      Object.fromEntries([...had].map(([name, abouts]) => [name, [...abouts].sort()])),
    );
  });
});
