import { z } from 'zod';
import { crossCheck, EVEN_AFTER_ISSUES } from './cross-check.ts';
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

/** Who has read what. */
export const AuditSettings = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe('Whether there is a line for each read: who, what, from where, outcome.'),
    file: z
      .string()
      .min(1)
      .optional()
      .describe('Where the lines go; opened anew at SIGUSR2. Unset: standard output, with the log.'),
    keyFile: z
      .string()
      .min(1)
      .optional()
      .describe(
        'File that holds one line of 32 characters or more, the same for all replicas: the key of the hash that a token has in the lines. Needed where enabled.',
      ),
  })
  .superRefine(
    crossCheck<{ enabled: boolean; keyFile?: string | undefined }>((audit, report) => {
      if (audit?.enabled === true && audit.keyFile === undefined) report(['keyFile'], 'is missing: enabled needs it');
    }),
    EVEN_AFTER_ISSUES,
  );

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
