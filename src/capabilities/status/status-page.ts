import { hash } from 'node:crypto';
import { code, escapeHtml } from '../../core/http/pages/html.ts';
import { pagePolicy, STATUS_STYLE } from '../../core/http/pages/style.ts';
import { MARK } from '../landing-page/landing-page.ts';
import { duration, mebibytes, percent, share, time } from './figures.ts';
import { STATUS_SCRIPT } from './status-script.ts';
import { changeTable, resourceTable, upstreamTable } from './status-tables.ts';
import type { Status } from './view.ts';

/** What a browser may load for it: its style, its script, and itself anew. */
export const STATUS_POLICY = pagePolicy(
  STATUS_STYLE,
  `script-src 'sha256-${hash('sha256', STATUS_SCRIPT, 'base64')}'`,
  "connect-src 'self'",
);

/** The page that a person on call looks at first: how it goes, and where to look further. */
export function statusPage(status: Status): string {
  const { version, state, at, startedAt, upstreams, resources, changes, settings } = status;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Portico: status</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>${STATUS_STYLE}</style>
</head>
<body>
<header>
${MARK}
<h1>Portico</h1>
<p data-part="at">${escapeHtml(version)}, <span class="${state === 'serving' ? 'good' : 'bad'}">${state}</span> since ${time(startedAt)}, as of ${time(at)}</p>
<button type="button" hidden>Pause</button>
</header>
<main>
${section('Now', 'The last ten minutes.', part('now', facts(status)))}
${section('Upstreams', '', part('upstreams', upstreamTable(upstreams)))}
${section('Resources', '', part('resources', resourceTable(resources)))}
${section('Recent changes', '', part('changes', changeTable(changes)))}
${section('Look further', '', commands(status))}
${section(
  'Settings in force',
  '',
  `<details class="sheet"><summary>Effective settings <span>secrets are masked</span></summary><pre data-part="settings" tabindex="0">${code(settings)}</pre></details>`,
)}
</main>
<script>${STATUS_SCRIPT}</script>
</body>
</html>
`;
}

function section(title: string, lead: string, content: string): string {
  const told = lead === '' ? '' : `<p class="lead">${lead}</p>\n`;
  return `<section>\n<h2>${title}</h2>\n${told}${content}\n</section>`;
}

/** What is put in place anew. */
function part(name: string, content: string): string {
  return `<div data-part="${name}">\n${content}\n</div>`;
}

function facts({ requests, memory, snapshots, shared }: Status): string {
  const { hitRatio, hits, stale, misses } = snapshots;
  const rows = [
    ['Requests', String(requests.requests), `${share(requests)} with a status of 500 or above`],
    ['Half of them within', duration(requests.medianMs), `95 in 100 within ${duration(requests.p95Ms)}`],
    [
      'Served from what is held',
      hitRatio === null ? 'no reads' : percent(hitRatio),
      `${hits} fresh, ${stale} stale, ${misses} loaded`,
    ],
    [
      'Snapshots',
      mebibytes(snapshots.bytes),
      `${snapshots.entries} of them; cache.maxBytes is ${mebibytes(snapshots.maxBytes)}`,
    ],
    [
      'Memory',
      mebibytes(memory.residentBytes),
      `heap ${mebibytes(memory.heapBytes)} of ${mebibytes(memory.heapLimitBytes)}`,
    ],
  ];
  if (shared !== null) {
    const { isUp, commands, spared } = shared;
    rows.push([
      'Shared store',
      `<span class="${isUp ? 'good' : 'bad'}">${isUp ? 'there' : 'away'}</span>`,
      `${commands.requests} commands, ${share(commands)} failed, 95 in 100 within ${duration(commands.p95Ms)}; ${spared} calls spared for tokens rejected elsewhere`,
    ]);
  }
  const shown = rows.map(([name, value, more]) => `<div><dt>${name}</dt><dd>${value}<p>${more}</p></dd></div>`);
  return `<dl class="sheet facts">\n${shown.join('\n')}\n</dl>`;
}

/** Lines for a shell that show a problem, of a resource that has one where there is one. */
function commands({ resources, upstreams, settingsFile, url, processId }: Status): string {
  const well = new Set(upstreams.filter(({ breaker }) => breaker === 'closed').map(({ name }) => name));
  const shown = resources.find(({ upstream, doubts }) => !well.has(upstream) || doubts.length > 0) ?? resources[0];
  const target = `${url}/mcp/v1/resources/read?uri=${encodeURIComponent(shown?.uri ?? '')}`;
  const curl = `curl -i -H "Authorization: Bearer $PORTICO_TOKEN" "${target}"`;
  const lines =
    settingsFile === null ? [curl] : [`portico check --probe ${quoted(settingsFile)}`, curl, `kill -HUP ${processId}`];
  return `<div class="sheet"><pre tabindex="0" data-part="commands">${lines.map(code).join('')}</pre></div>`;
}

/** As one word of a shell. */
function quoted(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
