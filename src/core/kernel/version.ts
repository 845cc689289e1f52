import { createRequire } from 'node:module';

/** The version of this package, as `package.json` has it. */
export function readVersion(): string {
  return createRequire(import.meta.url)('portico/package.json').version;
}
