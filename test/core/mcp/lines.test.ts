import { Readable } from 'node:stream';
import { expect } from 'chai';
import fc from 'fast-check';
import { linesOf } from '../../../src/core/mcp/lines.ts';

const MAX_LINE = 8;

/** What comes of chunks: lines, and `null` for one that was too long. */
async function cut(chunks: readonly Buffer[]): Promise<(string | null)[]> {
  const lines: (string | null)[] = [];
  for await (const line of linesOf(Readable.from(chunks), MAX_LINE))
    lines.push(Buffer.isBuffer(line) ? line.toString() : null);
  return lines;
}

describe('lines of a stream', () => {
  it('are whole, in whatever pieces they arrive, and the last one also without its end', async () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'ä', ' ', '\r'), maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.array(fc.nat(40)), line, async (written, cuts, rest) => {
        const bytes = Buffer.from(written.map((one) => `${one}\n`).join('') + rest);
        const edges = [0, ...cuts.filter((edge) => edge < bytes.length).sort((a, b) => a - b), bytes.length];
        const chunks = edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
        const expected = written.map((one) => (Buffer.byteLength(one) > MAX_LINE ? null : one));
        if (rest !== '') expected.push(Buffer.byteLength(rest) > MAX_LINE ? null : rest);
        expect(await cut(chunks)).to.deep.equal(expected);
      }),
    );
  });
});
