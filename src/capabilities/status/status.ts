import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { openOperation, unstored } from '../../core/http/operations/operation.ts';
import { loadPage } from '../../core/http/pages/html-page.ts';
import type { HttpResponse } from '../../core/http/response/http-response.ts';
import { defineCapability } from '../capability.ts';
import { createGatewayStatus } from './gateway-status.ts';

/** The current status: a page at `/` of the admin listener, JSON at `/status`, and the runbook that both link to. */
export const statusCapability = defineCapability({
  open(_settings, context) {
    if (!context.config.admin.enabled) return undefined;
    const { listeners, status, onReload } = createGatewayStatus(context);
    const adminOperations = () => [
      openOperation('/', () => loadPage(new URL('./status-page.html', import.meta.url))({})),
      openOperation('/status', async () => unstored(JSON.stringify(await status()))),
      openOperation('/docs/runbook.md', loadRunbook),
    ];
    return { listeners, onReload, adminOperations };
  },
});

/** Reads the runbook of this package as a page: texts without marks, with an anchor for each section. */
function loadRunbook(): HttpResponse {
  const folder = dirname(createRequire(import.meta.url).resolve('portico/package.json'));
  const text = readFileSync(join(folder, 'docs/runbook.md'), 'utf8')
    .replaceAll(/^!\[.*\n/gm, '')
    .replaceAll(/^\|[-|]+\n/gm, '')
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replaceAll(/\*\*|`|^\| | \|$/gm, '')
    .replaceAll(' | ', ': ');
  const [, ...sections] = text.split(/^## /m);
  const page = loadPage(new URL('./runbook-page.html', import.meta.url));
  return page({
    sections: sections.map((section) => {
      const [title = '', ...lines] = section.trim().split('\n');
      return { title, anchor: title.toLowerCase(), text: lines.join('\n').trim() };
    }),
  });
}
