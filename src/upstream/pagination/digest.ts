import { hash } from 'node:crypto';

/** 32 bytes that stand for a text, so that what was seen is remembered in the same small space however long it was. */
export function digest(text: string): string {
  return hash('sha256', text, 'binary');
}
