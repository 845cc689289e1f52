import type { PageData } from '../../core/http/pages/html-page.ts';
import type { Period } from './history.ts';
import type { MappingWarning, Status, UpstreamStatus } from './status-view.ts';

/** Returns what status-page.html shows. */
export function pageData(status: Status): PageData {
  const { requests, memory, snapshots, shared } = status;
  return {
    ...{ version: status.version, state: status.state, stateClass: classOf(status.state === 'serving') },
    ...{ startedAt: timeData(status.startedAt), at: timeData(status.at), settings: status.settings },
    requests: requests.requests,
    failures: share(requests),
    p50: duration(requests.medianMs),
    p95: duration(requests.p95Ms),
    hitRatio: snapshots.hitRatio === null ? 'no reads' : percent(snapshots.hitRatio),
    ...{ hits: snapshots.hits, stale: snapshots.stale, misses: snapshots.misses, entries: snapshots.entries },
    ...{ bytes: mebibytes(snapshots.bytes), maxBytes: mebibytes(snapshots.maxBytes) },
    resident: mebibytes(memory.residentBytes),
    heap: mebibytes(memory.heapBytes),
    heapLimit: mebibytes(memory.heapLimitBytes),
    shared: shared !== null && {
      redis: shared.isUp ? 'connected' : 'unavailable',
      redisClass: classOf(shared.isUp),
      ...{ commands: shared.commands.requests, failedCommands: share(shared.commands), spared: shared.spared },
      commandP95: duration(shared.commands.p95Ms),
    },
    upstreams: status.upstreams.map(upstreamData),
    resources: status.resources.map(({ name, uri, upstream, loadedAt, items, warnings }) => ({
      ...{ name, uri, upstream, loadedAt: loadedAt !== null && timeData(loadedAt), isUnloaded: loadedAt === null },
      items: items ?? '',
      warnings: warnings.map((warning) => ({ text: describe(warning) })),
    })),
    changes: status.changes.map(({ at, since, text, isTrouble, times }) => ({
      ...{ changedAt: timeData(at), text, textClass: isTrouble ? 'bad' : '' },
      repeated: times > 1 && { times, since: timeData(since) },
    })),
    commands: commandsOf(status).map((line) => ({ line })),
  };
}

function upstreamData({ name, breaker, total, history, refused, lastFailure }: UpstreamStatus): PageData {
  return {
    ...{ name, breaker, breakerClass: classOf(breaker === 'closed') },
    ...{ calls: total.requests, failed: share(total), failedClass: total.failures > 0 ? 'bad' : '' },
    ...{ refused, refusedClass: refused > 0 ? 'bad' : '' },
    ...{ callP50: duration(total.medianMs), callP95: duration(total.p95Ms), ...chartData(name, history) },
    lastFailure: lastFailure !== null && {
      ...{ failedAt: timeData(lastFailure.at), code: lastFailure.code },
      why: [lastFailure.reason ?? '', ...lastFailure.causes].filter((text) => text !== '').map((text) => ({ text })),
    },
  };
}

/** Bars for calls and failed ones, and a line for durations. One slot is one unit wide. */
function chartData(name: string, history: readonly Period[]): PageData {
  const maxRequests = Math.max(0, ...history.map(({ requests }) => requests));
  const slowest = Math.max(1, ...history.map(({ p95Ms }) => p95Ms));
  const bars = (kind: 'calls' | 'failed') =>
    history.flatMap(({ requests, failures }, x) => {
      const height = (20 * (kind === 'calls' ? requests : failures)) / Math.max(1, maxRequests);
      return height === 0 ? [] : [{ kind, x, y: (24 - height).toFixed(1), height: height.toFixed(1) }];
    });
  const points = history.flatMap(({ requests, p95Ms }, x) =>
    requests === 0 ? [] : [`${x + 0.4},${(24 - (22 * p95Ms) / slowest).toFixed(1)}`],
  );
  const failures = history.reduce((sum, period) => sum + period.failures, 0);
  const chart = `${name}: at most ${maxRequests} calls in ten seconds, ${failures} failed, at most ${duration(slowest)}`;
  return { chart, slots: history.length, bars: [...bars('calls'), ...bars('failed')], points: points.join(' ') };
}

function describe(warning: MappingWarning): string {
  switch (warning.finding) {
    case 'nothing_left':
      return 'nothing is left of a reply that was not empty';
    case 'duplicate_ids':
      return 'an id occurs more than once';
    case 'field_empty':
      return `${warning.field} is empty in every item`;
    case 'items_dropped':
      return `${warning.dropped} of ${warning.received} items could not be mapped`;
  }
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

function timeData(iso: string): PageData {
  return { iso, time: `${iso.slice(0, 19).replace('T', ' ')} UTC` };
}

/** Formats how many failed, with their share. */
function share({ requests, failures }: Period): string {
  return failures === 0 ? '0' : `${failures} (${percent(failures / requests)})`;
}

function percent(ratio: number): string {
  return `${(100 * ratio).toFixed(ratio > 0 && ratio < 0.1 ? 1 : 0)} %`;
}

/** A dash for 0: there was none. */
function duration(ms: number): string {
  if (ms === 0) return '–';
  return ms < 1000 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function mebibytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MiB`;
}
