import { z } from 'zod';
import { whole } from '../../core/config/schema/scalars.ts';

/** Limits of requests that need a token. */
export const limitSettings = z.strictObject({
  perCaller: whole(0, 1_000_000_000)
    .default(0)
    .describe(
      'Requests of one caller in a window, each message of a batch for one; more are 429. A caller is a verified subject, else an access token. 0: no limit.',
    ),
  perAddress: whole(0, 1_000_000_000)
    .optional()
    .describe(
      'Requests from one address (IPv6: one /64) in a window, as for perCaller, with tokens that neither verification nor, within ten minutes, a platform has accepted; more are 429. Left out: 10 times perCaller. 0: no limit.',
    ),
  rejectedPerAddress: whole(0, 1_000_000_000)
    .default(0)
    .describe(
      'Requests from one address (IPv6: one /64) in a window whose token is missing, malformed or rejected; more are 429, with any token. 0: no limit.',
    ),
  total: whole(0, 1_000_000_000)
    .default(0)
    .describe(
      'Requests of all callers together in a window, as for perCaller; more are 429. Those without a token count for each address apart. 0: no limit.',
    ),
});
