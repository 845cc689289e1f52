import { createRequire } from 'node:module';

/** Replicas share lists of an equal format. Raise it when lists are read, mapped or stored differently. */
export const LIST_FORMAT = 2;

export function readVersion(): string {
  return createRequire(import.meta.url)('portico/package.json').version;
}
