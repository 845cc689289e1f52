import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { DOCUMENT_HEADERS, type HttpResponse } from '../response/send.ts';

interface PageData {
  readonly [name: string]: unknown;
}

/** Formats a value as text, or as the data of a section. `data` surrounds it. */
// biome-ignore lint/suspicious/noExplicitAny: a template names the value
type Format = (value: any, data: PageData) => unknown;

type Formats = Readonly<Record<string, Format>>;

export type Page = (data: object) => HttpResponse;

/** Reads an HTML template with one `<style>` and at most one `<script>`, which its policy allows by hash. */
export function loadPage(template: URL, formats: Formats = {}): Page {
  const common = readFileSync(new URL('./base.css', import.meta.url), 'utf8');
  const html = readFileSync(template, 'utf8').replace('<style>\n', () => `<style>\n${common}`);
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
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-store',
      'Content-Security-Policy': policy,
      ...DOCUMENT_HEADERS,
    },
    body: Buffer.from(fill(html, { ...data }, formats)),
  });
}

function sourceOf(text: string): string {
  return `sha256-${hash('sha256', text, 'base64')}`;
}

const PLACEHOLDER = /\{\{([#^])([\w.]+)(\|\w+)?\}\}\n?(.*?)\{\{\/\2\}\}\n?|\{\{([\w.]+)(\|\w+)?\}\}/gs;

/**
 * Replaces `{{path.to.value}}` and `{{value|format}}`. `{{#name}}…{{/name}}` is repeated for a list, `{{^name}}…` shown without
 * one.
 */
export function fill(template: string, data: PageData, formats: Formats = {}): string {
  const lookUp = (path: string, format = '') => {
    const value = path.split('.').reduce<unknown>((of, name) => (of as PageData | null | undefined)?.[name], data);
    return formats[format.slice(1)]?.(value, data) ?? value;
  };
  return template.replace(
    PLACEHOLDER,
    (_, kind?: string, section = '', sectionFormat = '', inner = '', path = '', format = '') => {
      if (kind === undefined) return escapeHtml(`${lookUp(path, format) ?? ''}`);
      const shown = [lookUp(section, sectionFormat)].flat().filter((one) => one === true || Object(one) === one);
      if (kind === '^') return shown.length === 0 ? fill(inner, data, formats) : '';
      return shown.map((one) => fill(inner, { ...data, ...Object(one) }, formats)).join('');
    },
  );
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
