import { readFileSync } from 'node:fs';

/** The fenced code blocks of a page, in order, that are marked with `language`. */
export function codeBlocks(file: string, language: string): string[] {
  const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
  return [...text.matchAll(/^```(\S*)\n(.*?)^```$/gms)].flatMap(([, marked, code]) =>
    marked === language && code !== undefined ? [code] : [],
  );
}
