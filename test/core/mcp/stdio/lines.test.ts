import { expect } from 'chai';
import fc from 'fast-check';
import { createLines } from '../../../../src/core/mcp/stdio/lines.ts';

const MAX = 8;

/** What comes of chunks: lines, and `null` for one that was too long. */
function cut(chunks: readonly Buffer[]): (string | null)[] {
  const lines: (string | null)[] = [];
  const take = createLines({
    maxBytes: MAX,
    onLine: (line) => lines.push(line.toString()),
    onTooLong: () => lines.push(null),
  });
  for (const chunk of chunks) take(chunk);
  return lines;
}

describe('lines of a stream', () => {
  it('are complete lines, in whatever pieces they arrive', () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'ä', ' ', '\r'), maxLength: 12 });
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(40)), line, (written, cuts, rest) => {
        const bytes = Buffer.from(written.map((one) => `${one}\n`).join('') + rest);
        const edges = [0, ...cuts.filter((edge) => edge < bytes.length).sort((a, b) => a - b), bytes.length];
        const chunks = edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
        const expected = written.map((one) => (Buffer.byteLength(one) > MAX ? null : one));
        if (Buffer.byteLength(rest) > MAX) expected.push(null);
        expect(cut(chunks)).to.deep.equal(expected);
      }),
    );
  });

  it('that are too long are reported once, immediately, and are not kept in memory', () => {
    const long = Buffer.alloc(MAX, 'x');
    expect(cut([long])).to.deep.equal([]);
    expect(cut([long, long, long, Buffer.from('\nb\n')])).to.deep.equal([null, 'b']);
  });
});
