import { z } from 'zod';
import type { Report, Unchecked } from './cross-check.ts';

/** Portico's own secret: what may stand in a header, and is still the same behind it. */
export const secretText = z
  .string()
  .regex(/^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/, 'must be printable ASCII, without white space around it');

/** Checks that the block at `path` has its secret in one place: in a file, or in the settings. */
export function checkSecret(
  block: Unchecked<{ readonly file?: string | undefined; readonly secret?: string | undefined }>,
  path: readonly string[],
  report: Report,
): void {
  if (block?.file === undefined && block?.secret === undefined) {
    report(path, 'needs a secret: file, or secret as "${NAME}"');
  } else if (block?.file !== undefined && block.secret !== undefined) {
    report([...path, 'secret'], 'stands beside file: one of them is the secret');
  }
}
