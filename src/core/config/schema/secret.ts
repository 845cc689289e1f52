import { z } from 'zod';
import { HEADER_VALUE } from '../../kernel/header-value.ts';
import type { Report, Unchecked } from './cross-check.ts';

/** Portico's own secret. */
export const secretText = z.string().regex(HEADER_VALUE, 'must be printable ASCII, without white space around it');

/** Checks that the block at `path` has its secret in one place: in a file, or in the settings. */
export function checkSecret(
  block: Unchecked<{ readonly file?: string | undefined; readonly secret?: string | undefined }>,
  path: readonly string[],
  report: Report,
): void {
  if (block?.file === undefined && block?.secret === undefined) {
    report(path, 'needs a secret: file, or secret as "${NAME}"');
  } else if (block?.file !== undefined && block.secret !== undefined) {
    report([...path, 'secret'], 'cannot be combined with file: set one of them');
  }
}
