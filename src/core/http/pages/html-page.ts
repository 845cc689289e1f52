import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { HttpResponse } from '../response/send.ts';

/** Data of a page. A section `{{#name}}…{{/name}}` is repeated for each element, or shown once where its value is `true`. */
export interface PageData {
  readonly [name: string]: string | number | boolean | PageData | readonly PageData[] | undefined;
}

/** Fills a page and returns it as a response. */
export type Page = (data: PageData) => HttpResponse;

/**
 * Reads an HTML template with one `<style>`, which the common style is put in front of, and at most one `<script>`. The
 * policy of its responses allows these two, by hash, a script to fetch from its own origin, and an icon in the page itself.
 */
export function loadPage(template: URL): Page {
  const html = readFileSync(template, 'utf8').replace('<style>\n', () => `<style>\n${baseStyle()}`);
  const [, style = ''] = /<style>(.*?)<\/style>/s.exec(html) ?? [];
  const [, script] = /<script>(.*?)<\/script>/s.exec(html) ?? [];
  const policy = [
    "default-src 'none'",
    `style-src '${sourceOf(style)}'`,
    ...(html.includes('<link rel="icon" href="data:') ? ['img-src data:'] : []),
    ...(script === undefined ? [] : [`script-src '${sourceOf(script)}'`, "connect-src 'self'"]),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  return (data) => ({
    status: 200,
    headers: ['Content-Type', 'text/html; charset=utf-8', 'Cache-Control', 'no-store'],
    body: Buffer.from(fill(html, data)),
    policy,
  });
}

function baseStyle(): string {
  return readFileSync(new URL('./base.css', import.meta.url), 'utf8');
}

function sourceOf(text: string): string {
  return `sha256-${hash('sha256', text, 'base64')}`;
}

/** A section, with its line ends where its tags are on lines of their own, or a value. */
const PLACEHOLDER = /\{\{#(\w+)\}\}\n?(.*?)\{\{\/\1\}\}\n?|\{\{(\w+)\}\}/gs;

/** Replaces each `{{name}}` by its value, escaped. A section has the data around it, too. */
export function fill(template: string, data: PageData): string {
  return template.replace(PLACEHOLDER, (_, section: string | undefined, inner: string, name: string) => {
    if (section === undefined) return escapeHtml(`${data[name] ?? ''}`);
    return [data[section] ?? false]
      .flat()
      .filter((one) => one !== false)
      .map((one) => fill(inner, typeof one === 'object' ? { ...data, ...one } : data))
      .join('');
  });
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for an element or a quoted attribute. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
