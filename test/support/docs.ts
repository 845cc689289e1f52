import { readFileSync } from 'node:fs';

/** The text of a page. */
export function readDoc(file: string): string {
  return readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
}

/** The fenced code blocks of a page, in order, that are marked with `language`. */
export function codeBlocks(file: string, language: string): string[] {
  return [...readDoc(file).matchAll(/^```(\S*)\n(.*?)^```$/gms)].flatMap(([, marked, code]) =>
    marked === language && code !== undefined ? [code] : [],
  );
}

/** Where a link into a page of Markdown may lead: its headings, as they are written after `#`. */
export function anchorsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(/\s/g, '-'),
  );
}
