import { createRequire } from 'node:module';

/** Version of this package, from `package.json`. */
export function readVersion(): string {
  return createRequire(import.meta.url)('portico/package.json').version;
}
