import { Credential } from '../kernel/caller.ts';
import { HEADER_VALUE } from '../kernel/header-value.ts';
import { openFiles, type Unusable, type WatchedFiles, type WatchOptions } from './watched-files.ts';

const MAX_BYTES = 16_384;

/**
 * Opens a file that holds a secret: one line, of which the newline is left out. While it cannot be used the secret before
 * stays: whether that still holds, the upstream says.
 */
export function openSecretFile(path: string, options: WatchOptions): WatchedFiles<Credential> | Unusable {
  return openFiles({
    ...options,
    paths: { file: path },
    maxBytes: MAX_BYTES,
    make: ({ file }) => secretIn(file?.toString('latin1').replace(/\r?\n$/, '') ?? ''),
    isSame: (one, other) => one.reveal() === other.reveal(),
  });
}

function secretIn(text: string): Credential | Unusable {
  if (text === '') return { issue: 'is empty' };
  if (!HEADER_VALUE.test(text))
    return { issue: 'must hold one line of printable ASCII, without white space around it' };
  return new Credential(text);
}
