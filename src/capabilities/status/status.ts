import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type Operation, openOperation, unstored } from '../../core/http/operations/operation.ts';
import { loadPage } from '../../core/http/pages/html-page.ts';
import type { HttpResponse } from '../../core/http/response/http-response.ts';
import { defineCapability } from '../capability.ts';
import { createGatewayStatus, type Status } from './gateway-status.ts';

/** The current status: a page at `/` of the admin listener, JSON at `/status`, and the runbook that both link to. */
export const statusCapability = defineCapability({
  open(_settings, context) {
    if (!context.config.admin.enabled) return undefined;
    const { listeners, status, onReload } = createGatewayStatus(context);
    return { listeners, onReload, adminOperations: () => statusOperations(status) };
  },
});

function statusOperations(status: () => Promise<Status>): Operation[] {
  return [
    openOperation(
      '/',
      onFirstUse(() => loadPage(new URL('./status-page.html', import.meta.url))({})),
    ),
    openOperation('/status', async () => unstored(JSON.stringify(await status()))),
    openOperation('/docs/runbook.md', onFirstUse(loadRunbook)),
  ];
}

/** Returns the same value each time, which is read at the first. */
function onFirstUse<Value>(read: () => Value): () => Value {
  let value: Value | undefined;
  return () => {
    value ??= read();
    return value;
  };
}

/** Reads the runbook of this package as a page, with an anchor for each of its sections. */
function loadRunbook(): HttpResponse {
  const folder = dirname(createRequire(import.meta.url).resolve('portico/package.json'));
  const [, ...sections] = readFileSync(join(folder, 'docs/runbook.md'), 'utf8').split(/^## /m);
  const page = loadPage(new URL('./runbook-page.html', import.meta.url));
  return page({ sections: sections.map(sectionData) });
}

function sectionData(section: string) {
  const [title = '', ...paragraphs] = section.trim().split(/\n{2,}/);
  const shown = paragraphs.filter((paragraph) => !paragraph.startsWith('!['));
  return { title, anchor: title.toLowerCase(), paragraphs: shown.map(paragraphData) };
}

/** A row of a table is a line, without the heading. */
function paragraphData(paragraph: string) {
  const [, label = '', text = ''] = /^(?:\*\*(.+?):\*\* ?)?(.*)$/s.exec(paragraph) ?? [];
  const lines = text.replace(/^\|.*\n\|[-|]+\n/, '').replace(/^\| (.*) \|$/gm, (_, row) => row.replaceAll(' | ', ': '));
  return { label, parts: lines.split(/(`[^`]+`|\[[^\]]+\]\([^)]*\))/).map(partData) };
}

/** Code, a link within the page, or text. */
function partData(part: string) {
  const [, code] = /^`(.*)`$/s.exec(part) ?? [];
  if (code !== undefined) return { codes: [{ code }] };
  const [, name = part, href = ''] = /^\[(.*)\]\((.*)\)$/s.exec(part) ?? [];
  return href.startsWith('#') ? { links: [{ name, href }] } : { text: name };
}
