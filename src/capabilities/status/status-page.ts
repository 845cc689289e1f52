import type { PageData } from '../../core/http/pages/html-page.ts';
import { daysBetween, describeWarning, duration, mebibytes, percent, share, timeData, utc } from './formats.ts';
import type { Period } from './history.ts';
import { EXPIRING_DAYS, lasting } from './status-verdict.ts';
import type {
  Failure,
  ProcessStatus,
  ReadCounts,
  ResourceStatus,
  Status,
  Trouble,
  UpstreamStatus,
} from './status-view.ts';

/** Colours of the icon. */
const ICONS = { red: 'd03b30', amber: 'e8a33d', green: '2f8f57' };

/** Returns what status-page.html shows. */
export function pageData(status: Status): PageData {
  const { at, requests, lastMinute, memory, snapshots, shared } = status;
  const resources = status.resources.map((resource) => resourceData(resource, at));
  return {
    ...{ ...verdictData(status), instance: status.instance, hash: status.settingsHash },
    ...{ version: status.version, state: status.state, stateClass: classOf(status.state === 'serving') },
    ...{ startedAt: timeData(status.startedAt, at), at: utc(at), settings: status.settings },
    ...{ requests: lastMinute.requests, requestsBefore: requests.requests },
    ...{ failures: share(lastMinute), failuresBefore: share(requests), failuresClass: badIf(lastMinute.failures > 0) },
    ...{ p50: duration(lastMinute.medianMs), p50Before: duration(requests.medianMs) },
    ...{ p95: duration(lastMinute.p95Ms), p95Before: duration(requests.p95Ms) },
    hitRatio:
      snapshots.lastMinute.reads === 0 ? '–' : percent(snapshots.lastMinute.served / snapshots.lastMinute.reads),
    hitRatioBefore: snapshots.hitRatio === null ? 'no reads' : percent(snapshots.hitRatio),
    ...{ hits: snapshots.hits, stale: snapshots.stale, misses: snapshots.misses, entries: snapshots.entries },
    ...staleData(status.resources),
    ...{ bytes: mebibytes(snapshots.bytes), maxBytes: mebibytes(snapshots.maxBytes) },
    resident: mebibytes(memory.residentBytes),
    ...{ heap: mebibytes(memory.heapBytes), heapLimit: mebibytes(memory.heapLimitBytes) },
    ...processData(status.process, at),
    shared: shared !== null && {
      redis: shared.isUp ? 'connected' : 'unavailable',
      redisClass: classOf(shared.isUp),
      ...{ commands: shared.commands.requests, failedCommands: share(shared.commands), spared: shared.spared },
      commandP95: duration(shared.commands.p95Ms),
    },
    upstreams: status.upstreams.map((upstream) => upstreamData(upstream, at)),
    resources,
    changes: status.changes.map(({ at: changedAt, since, text, isTrouble, times }) => ({
      ...{ changedAt: timeData(changedAt, at), text, textClass: badIf(isTrouble) },
      repeated: times > 1 && { times, since: timeData(since, at) },
    })),
    commands: commandsOf(status).map((line) => ({ line })),
  };
}

function verdictData({ verdict: { level, troubles }, at }: Status): PageData {
  const word = `${level.slice(0, 1).toUpperCase()}${level.slice(1)}`;
  const count = troubles.length === 1 ? '1 trouble' : `${troubles.length || 'no'} troubles`;
  const more = troubles.length > 1 ? ` and ${troubles.length - 1} more` : '';
  return {
    ...{ level, icon: ICONS[level], headline: `${word}: ${count}`, isGreen: level === 'green' },
    title: `${word}: ${troubles[0]?.text ?? count}${more}`,
    troubles: troubles.map((trouble) => troubleData(trouble, at)),
  };
}

/** How long it lasts is an element of its own: it changes without an announcement. */
function troubleData({ level, text, runbook, since }: Trouble, at: string): PageData {
  const long = lasting(since, at);
  const end = long === '' ? -1 : text.indexOf(long);
  if (since === null || end === -1) return { severity: level, runbook, what: text };
  const [what, why] = [text.slice(0, end), text.slice(end + long.length)];
  return { severity: level, runbook, what, why, since: { iso: since, utc: utc(since), long } };
}

function staleData(resources: readonly ResourceStatus[]): PageData {
  const sum = (of: (resource: ResourceStatus) => number) => resources.reduce((total, one) => total + of(one), 0);
  const staleOnError = sum(({ lastMinute }) => lastMinute.staleOnError);
  return {
    staleOnError,
    staleOnErrorBefore: sum(({ reads }) => reads.staleOnError),
    staleClass: badIf(staleOnError > 0),
  };
}

function processData(process: ProcessStatus, at: string): PageData {
  const { descriptors, connections, eventLoopMs, certificates } = process;
  const { log, audit } = process.droppedLines;
  const [first] = certificates.toSorted((one, other) => one.to.localeCompare(other.to));
  const clients = connections.find(({ listener }) => listener === 'http');
  return {
    ...{ descriptors: descriptors.open ?? '–', maxDescriptors: descriptors.max ?? 'no limit' },
    ...{ connections: clients?.open ?? 0, maxConnections: clients?.max ?? '–' },
    ...{ delay: duration(eventLoopMs.lastMinute), delayBefore: duration(eventLoopMs.tenMinutes) },
    certificate: first !== undefined && certificateData(first, at),
    ...{ dropped: log + audit, droppedLog: log, droppedAudit: audit, droppedClass: badIf(log + audit > 0) },
  };
}

function certificateData({ name, to }: ProcessStatus['certificates'][number], at: string): PageData {
  const days = daysBetween(at, to);
  return { name, days: Math.floor(days), utc: utc(to), daysClass: badIf(days < EXPIRING_DAYS) };
}

function upstreamData(upstream: UpstreamStatus, at: string): PageData {
  const { name, breaker, total, lastMinute, history, refused, refusedBy, lastFailure } = upstream;
  return {
    ...{ name, breaker, breakerClass: classOf(breaker === 'closed') },
    ...{ calls: lastMinute.requests, callsBefore: total.requests },
    ...{ failed: share(lastMinute), failedBefore: share(total), failedClass: badIf(lastMinute.failures > 0) },
    ...{ refused, refusedClass: badIf(refused > 0) },
    refusedBy: Object.entries(refusedBy).flatMap(([by, count]) => (count > 0 ? [{ by: `${by} ${count}` }] : [])),
    ...{ callP50: duration(lastMinute.medianMs), callP50Before: duration(total.medianMs) },
    ...{ callP95: duration(lastMinute.p95Ms), callP95Before: duration(total.p95Ms), ...chartData(name, history) },
    lastFailure: failureData(lastFailure, at),
  };
}

function resourceData(resource: ResourceStatus, at: string): PageData {
  const { name, uri, upstream, loadedAt, items, warnings, reads, lastMinute, lastFailure } = resource;
  return {
    ...{ name, uri, upstream, loadedAt: loadedAt !== null && timeData(loadedAt, at), isUnloaded: loadedAt === null },
    ...{ items: items ?? '–', reads: lastMinute.reads, readsBefore: reads.reads },
    ...{ failed: failedOf(lastMinute), failedBefore: failedOf(reads), failedClass: badIf(lastMinute.failed > 0) },
    ...{ old: staleShare(lastMinute), oldBefore: staleShare(reads), oldClass: badIf(lastMinute.staleOnError > 0) },
    warnings: warnings.map((warning) => ({ text: describeWarning(warning) })),
    lastFailure: failureData(lastFailure, at),
  };
}

function failedOf({ reads, failed }: ReadCounts): string {
  return share({ requests: reads, failures: failed });
}

function staleShare({ reads, stale }: ReadCounts): string {
  return reads === 0 ? '–' : percent(stale / reads);
}

function failureData(failure: Failure | null, at: string): PageData | false {
  if (failure === null) return false;
  const why = [failure.reason ?? '', ...failure.causes].filter((text) => text !== '');
  return { failedAt: timeData(failure.at, at), code: failure.code, why: why.map((text) => ({ text })) };
}

/** Bars for calls and failed ones, and a line for durations, with the scale of both. One slot is one unit wide. */
function chartData(name: string, history: readonly Period[]): PageData {
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

/** Shell commands that show a problem, of a resource that has one if there is one. */
function commandsOf({ resources, upstreams, settingsFile, url, processId }: Status): string[] {
  const healthy = new Set(upstreams.filter(({ breaker }) => breaker === 'closed').map(({ name }) => name));
  const shown = resources.find(({ upstream, warnings }) => !healthy.has(upstream) || warnings.length > 0);
  const uri = encodeURIComponent((shown ?? resources[0])?.uri ?? '');
  const curl = `curl -i -H "Authorization: Bearer $PORTICO_TOKEN" "${url}/mcp/v1/resources/read?uri=${uri}"`;
  if (settingsFile === null) return [curl];
  const file = /^[\w./:@-]+$/.test(settingsFile) ? settingsFile : `'${settingsFile.replaceAll("'", `'\\''`)}'`;
  return [`portico check --probe ${file}`, curl, `kill -HUP ${processId}`];
}

function classOf(isGood: boolean): string {
  return isGood ? 'good' : 'bad';
}

function badIf(isBad: boolean): string {
  return isBad ? 'bad' : '';
}
