import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { compress } from '../../src/snapshots/compress.ts';

const decoders = { zstd: zstdDecompressSync, gzip: gunzipSync } as const;

describe('compressing', () => {
  for (const coding of ['zstd', 'gzip'] as const) {
    it(`as ${coding} gives back the same bytes, whatever they are`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.uint8Array({ maxLength: 4096 }), async (array) => {
          const bytes = Buffer.from(array);
          return decoders[coding](await compress(bytes, coding)).equals(bytes);
        }),
        { numRuns: 50 },
      );
    });

    it(`as ${coding} makes JSON smaller, and leaves the event loop free meanwhile`, async () => {
      const bytes = Buffer.from(
        JSON.stringify(Array.from({ length: 50_000 }, (_, id) => ({ id: String(id), name: 'tool' }))),
      );
      let turns = 0;
      const timer = setInterval(() => {
        turns += 1;
      }, 0);
      const compressed = await compress(bytes, coding);
      clearInterval(timer);
      expect(compressed.length).to.be.below(bytes.length / 4);
      expect(turns).to.be.above(0);
    });
  }
});
