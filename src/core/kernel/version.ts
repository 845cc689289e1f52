import { createRequire } from 'node:module';

/**
 * Number of what a list is under equal settings, with which replicas of different releases share lists and rejected tokens.
 * Raise it with a release that reads, maps or stores a list differently.
 */
export const LIST_FORMAT = 2;

/** Version of this package, from `package.json`. */
export function readVersion(): string {
  return createRequire(import.meta.url)('portico/package.json').version;
}
