import { createRequire } from 'node:module';

type Undici = typeof import('undici');
type Parts = Pick<Undici, 'Client' | 'errors' | 'buildConnector'>;

const require = createRequire(import.meta.url);

/**
 * What connections are made of, from undici's inner files: its index also loads its fetch, web sockets and mocks, 30 to 40 ms
 * of each start. Where a release has moved them, the index is loaded after all.
 */
export const undici: Parts = innerParts(require) ?? wholeUndici();

/** Its index, which also gives clients their methods for whole requests. */
export function wholeUndici(): Undici {
  return require('undici');
}

/** `undefined` where one of the files is not there. */
export function innerParts(load: (file: string) => unknown): Parts | undefined {
  try {
    return {
      Client: load('undici/lib/dispatcher/client.js') as Undici['Client'],
      errors: load('undici/lib/core/errors.js') as Undici['errors'],
      buildConnector: load('undici/lib/core/connect.js') as Undici['buildConnector'],
    };
  } catch {
    return undefined;
  }
}
