import { createRequire } from 'node:module';

/**
 * Format of lists under equal settings: replicas share only where it is equal. Raise it when lists are read, mapped or stored
 * differently.
 */
export const LIST_FORMAT = 2;

/** Version of this package, from `package.json`. */
export function readVersion(): string {
  return createRequire(import.meta.url)('portico/package.json').version;
}
