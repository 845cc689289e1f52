import { readdirSync, readFileSync } from 'node:fs';

/** Every page of Markdown: those of the root that people read, and all of `docs/`. */
export function documentation(): string[] {
  const pages = readdirSync(new URL('../../docs/', import.meta.url), { recursive: true, encoding: 'utf8' });
  return [
    ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'],
    ...pages.filter((page) => page.endsWith('.md')).map((page) => `docs/${page}`),
  ];
}

export function readDoc(file: string): string {
  return readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
}

/** The fenced code blocks of a page, or of the section below a heading, in order, that are marked with `language`. */
export function codeBlocks(file: string, language: string, heading?: string): string[] {
  return blocksIn(sectionOf(readDoc(file), heading), language);
}

/** Those of all other sections. */
export function codeBlocksBut(file: string, language: string, heading: string): string[] {
  const page = readDoc(file);
  return blocksIn(page.replace(sectionOf(page, heading), ''), language);
}

function blocksIn(text: string, language: string): string[] {
  return [...text.matchAll(/^```(\S*)\n(.*?)^```$/gms)].flatMap(([, marked, code]) =>
    marked === language && code !== undefined ? [code] : [],
  );
}

/** Text of a page from a heading to the next of its level or above. @default all of it */
export function sectionOf(page: string, heading?: string): string {
  if (heading === undefined) return page;
  const [start = '', marks = ''] = new RegExp(`^(#+) ${heading}$`, 'm').exec(page) ?? [];
  const rest = page.slice(page.indexOf(start) + start.length);
  const end = rest.search(new RegExp(`^#{1,${marks.length}} `, 'm'));
  return end < 0 ? rest : rest.slice(0, end);
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
