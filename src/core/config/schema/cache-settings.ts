import { z } from 'zod';
import { bytes, milliseconds } from './scalars.ts';

/** What snapshots of all resources may take up together. */
export const CacheSettings = z.strictObject({
  maxBytes: bytes(65_536)
    .default(134_217_728)
    .describe('Stored answers, plain and compressed, and 2 KiB for each; what was not used for longest goes first.'),
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
});
