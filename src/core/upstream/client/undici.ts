import { createRequire } from 'node:module';

/**
 * Loads undici when the first connection is opened rather than at the start of the process: its index takes about 35 ms of
 * processor time (docs/decisions/0041).
 */
export function loadUndici(): typeof import('undici') {
  return createRequire(import.meta.url)('undici');
}
