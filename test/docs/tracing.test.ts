import { expect } from 'chai';
import { startTraced } from '../capabilities/tracing/traced.ts';
import { codeBlocks } from '../support/docs.ts';
import { inTurn, json, startHttpUpstream } from '../support/platform/http-upstream.ts';
import type { Collector } from '../support/process/collector.ts';

/** The column in which they begin. */
const REMARKS = 41;

/** The page's drawing without its remarks, and how often each call was sent before. */
function drawn(): string[] {
  const [block = ''] = codeBlocks('docs/operations.md', 'text', 'Traces');
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

describe('the section on traces', () => {
  it('shows the spans of a read', async () => {
    const page = (id: string, nextPageToken: string) => json({ tools: [{ id, name: 'A' }], nextPageToken });
    const upstream = await startHttpUpstream(inTurn(page('a', 'b'), json({}, 503), json({}, 503), page('b', '')));
    const { collector, read, end } = await startTraced(upstream.url, { upstream: { retry: { baseDelayMs: 1 } } });
    expect((await read('tools')).status).to.equal(200);
    await end();
    expect(drawn()).to.deep.equal(told(collector));
  });
});
