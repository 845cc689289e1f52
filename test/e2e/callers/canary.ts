import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

/** A text for every token and secret of a test, and nothing else. */
export const newMark = () => `canary${randomBytes(9).toString('hex')}`;

/** A mark and the hashes of tokens in whatever form they might be written down. */
export function tracesOf(mark: string, tokens: Iterable<string>): string[] {
  const bytes = Buffer.from(mark);
  // Base64 of a longer text has it in one of three ways, by where it begins.
  const shifted = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .slice(shift === 0 ? 0 : 4)
      .replace(/.?.?=*$/, ''),
  );
  const hashes = [...tokens].flatMap((token) =>
    [token, `Bearer ${token}`].flatMap((text) => {
      const hash = createHash('sha256').update(text).digest();
      return (['hex', 'base64', 'base64url'] as const).map((coding) => hash.toString(coding).slice(0, 12));
    }),
  );
  return [mark, bytes.toString('hex'), ...shifted, ...shifted.map((text) => text.replaceAll('+', '-')), ...hashes];
}

/** What in a text begins with the mark. */
export function marksIn(text: string, mark: string): string[] {
  const found: string[] = [];
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) found.push(text.slice(at, at + 80));
  return found;
}

/** Runs work for 0 up to `count`, eight at once. */
export async function inLanes(count: number, work: (number: number) => Promise<void>): Promise<void> {
  const lanes = Array.from({ length: 8 }, async (_, lane) => {
    for (let number = lane; number < count; number += 8) await work(number);
  });
  await Promise.all(lanes);
}

/** What the last of several looks finds: undici lets go of connections that broke off a moment later. */
export async function onceClean(look: () => Promise<string[]>): Promise<string[]> {
  let found: string[] = [];
  for (let attempt = 0; attempt < 6; attempt += 1) {
    found = await look();
    if (found.length === 0) break;
    await sleep(1000);
  }
  return found;
}
