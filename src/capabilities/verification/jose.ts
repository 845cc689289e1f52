import { createRequire } from 'node:module';

type Jose = typeof import('jose');

let loaded: Jose | undefined;

/** The package, loaded on first use, because that takes 20 ms. */
export function jose(): Jose {
  loaded ??= createRequire(import.meta.url)('jose') as Jose;
  return loaded;
}
