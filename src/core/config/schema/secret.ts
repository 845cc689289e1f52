import { z } from 'zod';
import { HEADER_VALUE } from '../../kernel/caller.ts';
import type { Report } from './cross-check.ts';

/** The keys of a block that has a secret of Portico's own, in one of two places. */
export const SECRET_KEYS = {
  file: z.string().min(1).optional().describe('File that holds the secret; reloaded when it changes.'),
  secret: z
    .string()
    .regex(HEADER_VALUE, 'must be printable ASCII without surrounding white space')
    .optional()
    .describe('The secret itself, from the environment. Cannot be combined with file.'),
};

/** Checks that the block at `path` has its secret in one place. */
export function checkSecret(
  block: { readonly file?: string | undefined; readonly secret?: string | undefined },
  path: readonly string[],
  report: Report,
): void {
  if (block.file === undefined && block.secret === undefined) {
    report(path, 'needs a secret: file, or secret as "${NAME}"');
  } else if (block.file !== undefined && block.secret !== undefined) {
    report([...path, 'secret'], 'cannot be combined with file: set one of them');
  }
}
