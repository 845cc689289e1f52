import { z } from 'zod';
import { withChecks } from '../../core/config/schema/cross-check.ts';

/** Who has read what. */
export const AuditSettings = withChecks(
  z.strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe('Whether there is a line for each read: who, what, from where, outcome.'),
    file: z
      .string()
      .min(1)
      .optional()
      .describe('File that the lines are appended to; reopened at SIGUSR2. Unset: standard output, with the log.'),
    keyFile: z
      .string()
      .min(1)
      .optional()
      .describe(
        'File that holds one line of 32 characters or more, the same for all replicas: the key of the hash that a token has in the lines. Needed where enabled.',
      ),
  }),
  (audit, report) => {
    if (audit?.enabled === true && audit.keyFile === undefined) report(['keyFile'], 'is missing: enabled needs it');
  },
);
