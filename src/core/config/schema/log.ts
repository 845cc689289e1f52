import { z } from 'zod';
import { milliseconds } from './scalars.ts';

/** The log on standard output; that of `portico stdio` on standard error. */
export const LogSettings = z.strictObject({
  level: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('Least severe level that is written.'),
  format: z
    .enum(['auto', 'json', 'pretty'])
    .default('auto')
    .describe(
      'For whom lines are: json for programs, one object a line; pretty for a person; auto is pretty on a terminal, and json otherwise.',
    ),
});

/** As a caller's request id may be. */
const requestId = z.string().regex(/^[A-Za-z0-9._~:/+=@-]{1,128}$/);
const MAX_IDS = 16;

/** What is put to the admin listener to have the log say more, or less, for a while. No key of a settings file. */
export const LogChange = z.strictObject({
  // Not silent: whoever changes the log can be read of in it.
  level: z.enum(['debug', 'info', 'warn', 'error']).optional(),
  requestIds: z.array(requestId).max(MAX_IDS).optional(),
  traceIds: z
    .array(z.string().regex(/^[0-9a-f]{32}$/))
    .max(MAX_IDS)
    .optional(),
  forMs: milliseconds(1000).default(600_000),
});
