import { hash } from 'node:crypto';
import type { Period } from '../../observability/status/history.ts';
import type { Change } from '../../observability/status/recent-changes.ts';
import type { Doubt, Failure, Status } from '../../observability/status/status.ts';
import { code, escapeHtml } from './html.ts';
import { MARK } from './landing-page.ts';
import { STATUS_SCRIPT } from './status-script.ts';
import { pagePolicy, STATUS_STYLE } from './style.ts';

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
    const { isUp, commands } = shared;
    rows.push([
      'Shared store',
      `<span class="${isUp ? 'good' : 'bad'}">${isUp ? 'there' : 'away'}</span>`,
      `${commands.requests} commands, ${share(commands)} failed, 95 in 100 within ${duration(commands.p95Ms)}`,
    ]);
  }
  const shown = rows.map(([name, value, more]) => `<div><dt>${name}</dt><dd>${value}<p>${more}</p></dd></div>`);
  return `<dl class="sheet facts">\n${shown.join('\n')}\n</dl>`;
}

function upstreamTable(upstreams: Status['upstreams']): string {
  const rows = upstreams.flatMap(({ name, breaker, total, history, refused, lastFailure }) => {
    const cells = [
      `<th scope="row">${escapeHtml(name)}</th>`,
      `<td><span class="${breaker === 'closed' ? 'good' : 'bad'}">${escapeHtml(breaker)}</span></td>`,
      number(total.requests),
      number(share(total), total.failures > 0),
      number(refused, refused > 0),
      number(duration(total.medianMs)),
      number(duration(total.p95Ms)),
      `<td>${sparkline(name, history)}</td>`,
    ];
    return lastFailure === null ? [cells] : [cells, [describeFailure(cells.length, lastFailure)]];
  });
  return table(
    'Calls of the last ten minutes. Bars: calls in ten seconds, failed ones in red; the line: what 95 in 100 took at most.',
    [
      'Upstream',
      'Breaker',
      ...['Calls', 'Failed', 'Not asked', 'Half within', '95 % within'].map(ofNumbers),
      'Over time',
    ],
    rows,
  );
}

/** Below the row of its upstream, and as wide. */
function describeFailure(columns: number, { at, code: failed, reason, causes }: Failure): string {
  const why = [reason ?? '', ...causes].filter((text) => text !== '').map(escapeHtml);
  return `<td class="why" colspan="${columns}">Failed last ${time(at)}: ${[code(failed), ...why].join(', ')}</td>`;
}

function resourceTable(resources: Status['resources']): string {
  const rows = resources.map(({ name, uri, upstream, loadedAt, items, doubts }) => [
    `<th scope="row">${escapeHtml(name)}</th>`,
    `<td>${code(uri)}</td>`,
    `<td>${escapeHtml(upstream)}</td>`,
    `<td>${loadedAt === null ? 'not yet' : time(loadedAt)}</td>`,
    number(items ?? ''),
    `<td>${doubts.length === 0 ? '' : doubts.map((doubt) => `<p class="bad">${describe(doubt)}</p>`).join('')}</td>`,
  ]);
  return table(
    'What was found when a list was loaded last.',
    ['Resource', 'URI', 'Upstream', 'Loaded', ofNumbers('Items'), 'To be doubted'],
    rows,
  );
}

function describe(doubt: Doubt): string {
  switch (doubt.finding) {
    case 'where_drops_all':
      return `${code('where')} drops every item`;
    case 'field_empty':
      return `${code(doubt.field)} is empty in every item`;
    case 'items_dropped':
      return `${doubt.dropped} of ${doubt.received} items could not be mapped`;
  }
}

function changeTable(changes: readonly Change[]): string {
  if (changes.length === 0) return '<p class="sheet none">Nothing has changed since the start.</p>';
  const rows = changes.map(({ at, since, text, isTrouble, times }) => [
    `<td>${time(at)}</td>`,
    `<td><span${isTrouble ? ' class="bad"' : ''}>${escapeHtml(text)}</span>${times > 1 ? ` (${times} times since ${time(since)})` : ''}</td>`,
  ]);
  return table('The newest first.', ['When', 'What'], rows);
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

interface Head {
  readonly text: string;
  readonly kind: 'number';
}

function ofNumbers(text: string): Head {
  return { text, kind: 'number' };
}

function table(caption: string, heads: readonly (string | Head)[], rows: readonly (readonly string[])[]): string {
  const head = heads
    .map((one) =>
      typeof one === 'string' ? `<th scope="col">${one}</th>` : `<th scope="col" class="number">${one.text}</th>`,
    )
    .join('');
  const body = rows.map((cells) => `<tr>${cells.join('')}</tr>`).join('\n');
  return `<div class="sheet scroll" tabindex="0" role="region" aria-label="${heads[0]}"><table>
<caption>${caption}</caption>
<thead><tr>${head}</tr></thead>
<tbody>
${body}
</tbody>
</table></div>`;
}

function number(value: string | number, isBad = false): string {
  return `<td class="number">${isBad ? `<span class="bad">${value}</span>` : value}</td>`;
}

/** Bars for calls and failed ones, and a line for durations, in one unit of width a slot. */
function sparkline(name: string, history: readonly Period[]): string {
  const most = Math.max(1, ...history.map(({ requests }) => requests));
  const slowest = Math.max(1, ...history.map(({ p95Ms }) => p95Ms));
  const bars = (of: (period: Period) => number, kind: string) =>
    history
      .map((period, index) => ({ height: (20 * of(period)) / most, index }))
      .filter(({ height }) => height > 0)
      .map(
        ({ height, index }) =>
          `<rect class="${kind}" x="${index}" y="${(24 - height).toFixed(1)}" width=".8" height="${height.toFixed(1)}"/>`,
      )
      .join('');
  const points = history.flatMap(({ requests, p95Ms }, index) =>
    requests === 0 ? [] : [`${index + 0.4},${(24 - (22 * p95Ms) / slowest).toFixed(1)}`],
  );
  const failures = history.reduce((total, period) => total + period.failures, 0);
  const told = `${name}: at most ${most === 1 && points.length === 0 ? 0 : most} calls in ten seconds, ${failures} failed, at most ${duration(slowest)}`;
  return `<svg class="spark" viewBox="0 0 ${history.length} 24" preserveAspectRatio="none" role="img" aria-label="${escapeHtml(told)}">${bars(({ requests }) => requests, 'calls')}${bars(({ failures: failed }) => failed, 'failed')}<polyline class="slow" points="${points.join(' ')}"/></svg>`;
}

function share({ requests, failures }: Period): string {
  return failures === 0 ? '0' : `${failures} (${percent(failures / requests)})`;
}

function percent(ratio: number): string {
  return `${(100 * ratio).toFixed(ratio > 0 && ratio < 0.1 ? 1 : 0)} %`;
}

function duration(ms: number): string {
  if (ms === 0) return '–';
  return ms < 1000 ? `${ms < 10 ? ms.toFixed(1) : ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function mebibytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MiB`;
}

function time(iso: string): string {
  return `<time datetime="${iso}">${iso.slice(0, 19).replace('T', ' ')} UTC</time>`;
}
