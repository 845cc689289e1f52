import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { loadPage } from '../../core/http/pages/html-page.ts';
import type { HttpResponse } from '../../core/http/response/send.ts';

/** Reads the runbook of this package as a page, with an anchor for each of its sections. */
export function loadRunbook(): HttpResponse {
  const folder = dirname(createRequire(import.meta.url).resolve('portico/package.json'));
  const [, ...sections] = readFileSync(join(folder, 'docs/runbook.md'), 'utf8').split(/^## /m);
  const page = loadPage(new URL('./runbook-page.html', import.meta.url));
  return page({ sections: sections.map(sectionData) });
}

function sectionData(section: string) {
  const [title = '', ...paragraphs] = section.trim().split(/\n{2,}/);
  return {
    ...{ title, anchor: title.toLowerCase() },
    paragraphs: paragraphs.map((paragraph) => {
      const [, label = '', text = ''] = /^(?:\*\*(.+?):\*\* )?(.*)$/s.exec(paragraph) ?? [];
      return { label, text };
    }),
  };
}
