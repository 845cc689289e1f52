import { z } from 'zod';

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
