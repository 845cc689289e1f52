import { z } from 'zod';
import { bytes, milliseconds, whole } from './scalars.ts';

/** What snapshots of all resources may take up together. */
export const CacheSettings = z.strictObject({
  maxBytes: bytes(65_536)
    .default(134_217_728)
    .describe('Stored answers, plain and compressed, and 2 KiB for each; what was not used for longest goes first.'),
  maxEntries: whole(1, 1_000_000)
    .default(20_000)
    .describe('Stored answers: one for each caller and resource that is stored.'),
  reuseMaxBytes: bytes(0)
    .default(16_777_216)
    .describe(
      'What was made of upstream answers, to be used again where the very same bytes come. 0: all is made anew.',
    ),
});

/** How long snapshots of one resource serve. */
export const LifetimeSettings = z.strictObject({
  ttlMs: milliseconds(0)
    .default(60_000)
    .describe('How long an answer is fresh. 0: nothing is stored, and every read asks the upstream.'),
  staleWhileRevalidateMs: milliseconds(0)
    .default(300_000)
    .describe('How long after that it is served at once, and refreshed behind the read. 0: not at all.'),
  staleIfErrorMs: milliseconds(0)
    .default(3_600_000)
    .describe(
      'How long after its freshness it is served while the upstream fails, but for 401, 403, 404, 410 and 451. 0: not at all.',
    ),
  minRefreshMs: milliseconds(0)
    .default(5000)
    .describe('A fresh answer that is no older than this serves callers who send Cache-Control: no-cache, too.'),
});
