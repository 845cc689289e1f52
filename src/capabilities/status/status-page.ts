import { type Formats, loadPage, type Page, type PageData } from '../../core/http/pages/html-page.ts';
import { daysBetween, describeWarning, duration, durationBetween, mebibytes, percent, share, utc } from './formats.ts';
import type { Status } from './gateway-status.ts';
import type { MappingWarning, ReadCounts } from './request-status.ts';
import type { UpstreamStatus } from './status-sources.ts';
import { EXPIRING_DAYS, lasting, type Trouble } from './status-verdict.ts';

const ICONS = { red: 'd03b30', amber: 'e8a33d', green: '2f8f57' };

const badIf = (isBad: boolean) => (isBad ? 'bad' : '');

const FORMATS: Formats = {
  ...{ duration, mebibytes, share, utc },
  bad: (value: number | boolean) => badIf(value !== false && value !== 0),
  connected: (isUp: boolean) => (isUp ? 'connected' : 'unavailable'),
  counts: (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts).flatMap(([by, count]) => (count > 0 ? [{ text: `${by} ${count}` }] : [])),
  dash: (value = null) => value ?? '–',
  descriptions: (warnings: readonly MappingWarning[]) => warnings.map((one) => ({ text: describeWarning(one) })),
  expiring: (days: number) => badIf(days < EXPIRING_DAYS),
  failed: ({ reads, failed }: ReadCounts) => share({ requests: reads, failures: failed }),
  health: (value: unknown) => (['serving', 'closed', true].includes(value as string) ? 'good' : 'bad'),
  hitRatio: ({ hitRatio }: Status['snapshots']) => (hitRatio === null ? 'no reads' : percent(hitRatio)),
  limit: (value = 'no limit') => value,
  more: (texts: string | readonly string[] | null) =>
    [texts ?? []]
      .flat()
      .map((text) => `, ${text}`)
      .join(''),
  repeated: (times: number) => times > 1,
  served: ({ served, reads }: Status['snapshots']['lastMinute']) => (reads === 0 ? '–' : percent(served / reads)),
  stale: ({ reads, stale }: ReadCounts) => (reads === 0 ? '–' : percent(stale / reads)),
  /** A time in ISO 8601 as how long ago it was, and in UTC for its tooltip. */
  time: (iso: string | null, { now }) =>
    iso !== null && { iso, utc: utc(iso), ago: `${durationBetween(iso, `${now}`)} ago` },
};

export function loadStatusPage(): (status: Status) => ReturnType<Page> {
  const page = loadPage(new URL('./status-page.html', import.meta.url), FORMATS);
  return (status) => page({ ...status, ...pageData(status) });
}

function pageData({ at, verdict, resources, process, upstreams }: Status): PageData {
  const { log, audit } = process.droppedLines;
  const [first] = process.certificates.toSorted((one, other) => one.to.localeCompare(other.to));
  const sum = (of: 'reads' | 'lastMinute') => resources.reduce((total, one) => total + one[of].staleOnError, 0);
  return {
    now: at,
    ...headlineData(verdict),
    troubles: verdict.troubles.map((trouble) => troubleData(trouble, at)),
    ...{ staleOnError: sum('lastMinute'), staleOnErrorBefore: sum('reads') },
    clients: process.connections.find(({ listener }) => listener === 'http') ?? { open: 0, max: '–' },
    certificate: first && { ...first, days: Math.floor(daysBetween(at, first.to)) },
    dropped: log + audit,
    upstreams: upstreams.map((upstream) => ({ ...upstream, ...chartData(upstream) })),
  };
}

function headlineData({ level, troubles }: Status['verdict']): PageData {
  const word = `${level.slice(0, 1).toUpperCase()}${level.slice(1)}`;
  const count = troubles.length === 1 ? '1 trouble' : `${troubles.length || 'no'} troubles`;
  const more = troubles.length > 1 ? ` and ${troubles.length - 1} more` : '';
  const title = `${word}: ${troubles[0]?.text ?? count}${more}`;
  return { icon: ICONS[level], headline: `${word}: ${count}`, title };
}

/** How long it lasts is an element of its own: it changes without an announcement. */
function troubleData({ level, text, runbook, since }: Trouble, at: string): PageData {
  const long = lasting(since, at);
  const end = long === '' ? -1 : text.indexOf(long);
  if (since === null || end === -1) return { severity: level, runbook, what: text };
  const [what, why] = [text.slice(0, end), text.slice(end + long.length)];
  return { severity: level, runbook, what, why, since: { iso: since, utc: utc(since), long } };
}

/** Bars for calls and failed ones, and a line for durations, with the scale of both. One slot is one unit wide. */
function chartData({ name, history }: UpstreamStatus): PageData {
  const maxRequests = Math.max(0, ...history.map(({ requests }) => requests));
  const slowest = Math.max(0, ...history.map(({ p95Ms }) => p95Ms));
  const bars = (kind: 'calls' | 'failed') =>
    history.flatMap(({ requests, failures }, x) => {
      const height = (24 * (kind === 'calls' ? requests : failures)) / Math.max(1, maxRequests);
      return height === 0 ? [] : [{ kind, x, y: (24 - height).toFixed(1), height: height.toFixed(1) }];
    });
  const points = history.flatMap(({ requests, p95Ms }, x) =>
    requests === 0 ? [] : [`${x + 0.4},${(23 - (22 * p95Ms) / Math.max(1, slowest)).toFixed(1)}`],
  );
  const failures = history.reduce((sum, period) => sum + period.failures, 0);
  const chart = `${name}: at most ${maxRequests} calls in ten seconds, ${failures} failed, p95 at most ${duration(slowest)}`;
  return {
    ...{ chart, maxRequests, slowest: duration(slowest), slots: history.length },
    ...{ bars: [...bars('calls'), ...bars('failed')], points: points.join(' ') },
  };
}
