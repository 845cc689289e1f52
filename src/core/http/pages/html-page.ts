import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { HttpResponse } from '../response/http-response.ts';

interface PageData {
  readonly [name: string]: unknown;
}

export type HtmlPage = (data: object) => HttpResponse;

/** Reads an HTML template with one `<style>` and at most one `<script>`, which its policy allows by hash. */
export function loadPage(template: URL): HtmlPage {
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
      'Referrer-Policy': 'no-referrer',
      'Cross-Origin-Resource-Policy': 'same-origin',
    },
    body: Buffer.from(fill(html, { ...data })),
  });
}

function sourceOf(text: string): string {
  return `sha256-${hash('sha256', text, 'base64')}`;
}

const PLACEHOLDER = /\{\{#(\w+)\}\}\n?(.*?)\{\{\/\1\}\}\n?|\{\{(\w+)\}\}/gs;

/** Replaces `{{value}}`. `{{#name}}…{{/name}}` is repeated for a list, and shown for `true`. */
export function fill(template: string, data: PageData): string {
  return template.replace(PLACEHOLDER, (_, section: string | undefined, inner: string, name: string) => {
    if (section === undefined) return escapeHtml(`${data[name] ?? ''}`);
    const shown = [data[section]].flat().filter((one) => one === true || Object(one) === one);
    return shown.map((one) => fill(inner, { ...data, ...Object(one) })).join('');
  });
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
