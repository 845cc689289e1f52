import { code, escapeHtml } from '../../core/http/pages/html.ts';
import { duration, share, time } from './figures.ts';
import type { Period } from './history.ts';
import type { Change } from './recent-changes.ts';
import type { Doubt, Failure, Status } from './view.ts';

/** Upstreams and how calls to them went, each that has failed with why. */
export function upstreamTable(upstreams: Status['upstreams']): string {
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

/** Resources, and what is to be doubted of them. */
export function resourceTable(resources: Status['resources']): string {
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
    case 'nothing_left':
      return 'nothing is left of a reply that was not empty';
    case 'duplicate_ids':
      return `an ${code('id')} occurs more than once`;
    case 'field_empty':
      return `${code(doubt.field)} is empty in every item`;
    case 'items_dropped':
      return `${doubt.dropped} of ${doubt.received} items could not be mapped`;
  }
}

/** What has changed lately. */
export function changeTable(changes: readonly Change[]): string {
  if (changes.length === 0) return '<p class="sheet none">Nothing has changed since the start.</p>';
  const rows = changes.map(({ at, since, text, isTrouble, times }) => [
    `<td>${time(at)}</td>`,
    `<td><span${isTrouble ? ' class="bad"' : ''}>${escapeHtml(text)}</span>${times > 1 ? ` (${times} times since ${time(since)})` : ''}</td>`,
  ]);
  return table('The newest first.', ['When', 'What'], rows);
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
