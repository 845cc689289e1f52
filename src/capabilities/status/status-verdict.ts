import { daysBetween, describeWarning, duration, durationBetween, expiryOf } from './formats.ts';
import type { ResourceStatus } from './request-status.ts';
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
const EXPIRING_DAYS = 14;
const ALMOST_EXPIRED_DAYS = 3;

/** Returns the verdict on a status: what its figures show, and further findings. */
export function verdictOn({ upstreams, resources, process, at }: Figures, further: readonly Finding[]): Verdict {
  const figures = [...upstreams.map(ofUpstream), ...resources.map(ofResource), ofProcess(process, at)];
  const findings = [...figures.flatMap((found) => [...found]), ...further];
  return verdictOf(findings.map((finding) => troubleOf(finding, at)));
}

/** Returns the verdict of troubles, of one or several processes. The same trouble of several is one. */
function verdictOf(all: readonly Trouble[]): Verdict {
  const sorted = all.toSorted((one, other) => Number(one.level === 'amber') - Number(other.level === 'amber'));
  const groups = Map.groupBy(sorted, ({ subject, runbook }) => `${subject} ${runbook}`);
  const troubles = [...groups.values()].flatMap((group) => group.slice(0, 1));
  return { level: troubles[0]?.level ?? 'green', troubles };
}

/** Returns a finding as a line of the verdict. */
function troubleOf({ alert, level, subject, what, since = null, why = '' }: Finding, at: string): Trouble {
  const lasting = since === null ? '' : ` for ${durationBetween(since, at)}`;
  const text = `${subject}: ${what}${lasting}${why}`;
  return { level, subject, text, runbook: `docs/runbook.md#${alert.toLowerCase()}`, since };
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
    yield amber('PorticoReadsFailing', name, `p95 ${duration(lastMinute.p95Ms)} in the last minute`);
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

function* ofProcess(process: ProcessStatus, at: string): Generator<Finding> {
  const { descriptors, connections, eventLoopMs, droppedLines, certificates } = process;
  const { open = 0, max = Number.POSITIVE_INFINITY } = descriptors;
  const { log, droppedAt } = droppedLines;
  const late = eventLoopMs.lastMinute;
  if (late > LATE_MS) {
    yield red('PorticoEventLoopLate', 'event loop', `p95 of its delay ${duration(late)} in the last minute`);
  }
  if (droppedAt !== null && Date.parse(at) - Date.parse(droppedAt) < RECENT_MS) {
    if (log > 0) yield amber('PorticoLogLinesDropped', 'log', `${log} lines dropped`);
  }
  if (open > MAX_DESCRIPTORS * max) yield amber('PorticoConnectionsFull', 'descriptors', `${open} of ${max} open`);
  for (const { name, to } of certificates) {
    const days = daysBetween(at, to);
    if (days < ALMOST_EXPIRED_DAYS) yield red('PorticoCertificateExpiring', name, expiryOf(days));
    else if (days < EXPIRING_DAYS) yield amber('PorticoCertificateExpiring', name, expiryOf(days));
  }
  for (const { listener, open: clients, max: most } of connections) {
    if (clients <= MAX_CONNECTIONS * most) continue;
    yield amber('PorticoConnectionsFull', `${listener} listener`, `${clients} of ${most} connections open`);
  }
}
