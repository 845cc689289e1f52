import { describeFinding } from '../../core/mapping/mapper.ts';
import type { MappingWarning, ResourceStatus } from './request-status.ts';
import type { ProcessStatus, UpstreamStatus } from './status-sources.ts';

interface Trouble {
  /** `red`: callers get no lists, or soon will not. */
  readonly level: 'red' | 'amber';
  /** An upstream, a resource, or a part of Portico. */
  readonly subject: string;
  readonly text: string;
  /** Section of the runbook, as in the alert rules. The admin listener serves it under this path. */
  readonly runbook: string;
  /** ISO 8601; `null` for what is counted over a time. */
  readonly since: string | null;
}

/** The troubles, the worst first. `level`: that of the worst. */
export interface Verdict {
  readonly level: 'red' | 'amber' | 'green';
  readonly troubles: readonly Trouble[];
}

interface Figures {
  readonly upstreams: readonly UpstreamStatus[];
  readonly resources: readonly ResourceStatus[];
  readonly process: ProcessStatus;
  readonly at: string;
}

export interface Finding extends Pick<Trouble, 'level' | 'subject'> {
  /** Name of the alert, which is that of a section of the runbook. */
  readonly alert: string;
  readonly what: string;
  /** ISO 8601. @default counted over a time */
  readonly since?: string | null;
  readonly why?: string;
}

/** From which share of failed reads, of connections and of descriptors on there is a trouble, as the alerts have it. */
const MAX_FAILED = 0.05;
const MAX_CONNECTIONS = 0.9;
const MAX_DESCRIPTORS = 0.8;
const MAX_QUEUED = 0.5;
const SLOW_MS = 2500;
const LATE_MS = 250;
const RECENT_MS = 600_000;
const DAY_MS = 86_400_000;
const EXPIRING_DAYS = 14;
const ALMOST_EXPIRED_DAYS = 3;

/** Returns the verdict on a status: what its figures show, and further findings. Of one subject and alert, the worst. */
export function verdictOn({ upstreams, resources, process, at }: Figures, further: readonly Finding[]): Verdict {
  const figures = [...upstreams.map(ofUpstream), ...resources.map(ofResource), ofProcess(process, at)];
  const findings = [...figures.flatMap((found) => [...found]), ...further];
  const sorted = findings.toSorted((one, other) => Number(one.level === 'amber') - Number(other.level === 'amber'));
  const groups = Map.groupBy(sorted, ({ subject, alert }) => `${subject} ${alert}`);
  const troubles = [...groups.values()].flatMap((group) => group.slice(0, 1).map((worst) => troubleOf(worst, at)));
  return { level: troubles[0]?.level ?? 'green', troubles };
}

/** Returns a finding as a line of the verdict. */
function troubleOf({ alert, level, subject, what, since = null, why = '' }: Finding, at: string): Trouble {
  const lasting = since === null ? '' : ` for ${durationBetween(since, at)}`;
  const text = `${subject}: ${what}${lasting}${why}`;
  return { level, subject, text, runbook: `docs/runbook.md#${alert.toLowerCase()}`, since };
}

/** Formats the time between two, in ISO 8601, in whole units, as the page does: `34 s`, `4 min`, `2 h`, `3 d`. */
function durationBetween(since: string, at: string): string {
  const seconds = Math.max(0, Math.round((Date.parse(at) - Date.parse(since)) / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`;
}

/** Callers get no lists, or soon will not. */
export const red = (alert: string, subject: string, what: string, more: Partial<Finding> = {}): Finding => ({
  ...{ alert, level: 'red', subject, what, ...more },
});

/** A trouble that can wait. */
export const amber: typeof red = (...described) => ({ ...red(...described), level: 'amber' });

function* ofUpstream({ name, breaker, opened, queue, lastMinute }: UpstreamStatus): Generator<Finding> {
  if (opened !== null) {
    const why = ` after ${opened.failures} × ${opened.cause}`;
    yield red('PorticoBreakerOpen', name, `breaker ${breaker}`, { since: opened.since, why });
  }
  if (queue.waiting > MAX_QUEUED * queue.max) {
    yield red('PorticoQueueing', name, `${queue.waiting} of ${queue.max} calls queued`);
  }
  if (lastMinute.p95Ms > SLOW_MS) {
    yield amber('PorticoReadsFailing', name, `p95 ${inSeconds(lastMinute.p95Ms)} in the last minute`);
  }
}

function* ofResource({ name, lastMinute, staleSince, lastFailure, warnings }: ResourceStatus): Generator<Finding> {
  const { reads, failed } = lastMinute;
  const why = lastFailure === null ? '' : ` (${lastFailure.code})`;
  if (failed > MAX_FAILED * reads) {
    const isOwnCredential = lastFailure?.code === 'upstream_credential_rejected';
    const alert = isOwnCredential ? 'PorticoOwnCredentialRefused' : 'PorticoReadsFailing';
    yield red(alert, name, `${failed} of ${reads} reads failed in the last minute`, { why });
  }
  if (staleSince !== null) yield amber('PorticoServingStale', name, 'served stale', { since: staleSince, why });
  if (warnings.length > 0) yield amber('PorticoMappingWarning', name, warnings.map(describeWarning).join(', '));
}

function describeWarning(warning: MappingWarning): string {
  return warning.finding === 'items_dropped'
    ? `${warning.dropped} of ${warning.received} items could not be mapped`
    : describeFinding(warning);
}

function* ofProcess(process: ProcessStatus, at: string): Generator<Finding> {
  const { descriptors, connections, eventLoopMs, droppedLines, certificates } = process;
  const { open = 0, max = Number.POSITIVE_INFINITY } = descriptors;
  const { log, droppedAt } = droppedLines;
  const late = eventLoopMs.lastMinute;
  if (late > LATE_MS) {
    yield red('PorticoEventLoopLate', 'event loop', `p95 of its delay ${inSeconds(late)} in the last minute`);
  }
  if (droppedAt !== null && Date.parse(at) - Date.parse(droppedAt) < RECENT_MS) {
    yield amber('PorticoLogLinesDropped', 'log', `${log} lines dropped`);
  }
  if (open > MAX_DESCRIPTORS * max) yield amber('PorticoConnectionsFull', 'descriptors', `${open} of ${max} open`);
  for (const { name, to } of certificates) {
    const days = (Date.parse(to) - Date.parse(at)) / DAY_MS;
    const level = days < ALMOST_EXPIRED_DAYS ? red : amber;
    const text = days <= 0 ? 'expired' : `expires in ${Math.floor(days)} d`;
    if (days < EXPIRING_DAYS) yield level('PorticoCertificateExpiring', name, text);
  }
  for (const { listener, open: clients, max: most } of connections) {
    if (clients <= MAX_CONNECTIONS * most) continue;
    yield amber('PorticoConnectionsFull', `${listener} listener`, `${clients} of ${most} connections open`);
  }
}

function inSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
