import { daysBetween, describeWarning, duration, durationBetween, expiryOf } from './formats.ts';
import type {
  MappingWarning,
  ProcessStatus,
  ResourceStatus,
  Status,
  Trouble,
  UpstreamStatus,
  Verdict,
} from './status-view.ts';

/** A trouble, with the parts of its text. */
export interface Finding extends Pick<Trouble, 'level' | 'subject'> {
  /** Name of the alert, which is that of a section of the runbook. */
  readonly alert: string;
  readonly what: string;
  /** ISO 8601. @default counted over a time */
  readonly since?: string | null;
  /** What follows how long it lasts. */
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
/** Days left to a certificate. */
export const EXPIRING_DAYS = 14;
const ALMOST_EXPIRED_DAYS = 3;

/** Returns the verdict on a status: what its figures show, and further findings. */
export function verdictOn(status: Omit<Status, 'verdict'>, further: readonly Finding[]): Verdict {
  const figures = [
    ...status.upstreams.flatMap(ofUpstream),
    ...status.resources.flatMap(ofResource),
    ...ofProcess(status.process, status.at),
  ];
  return verdictOf([...figures, ...further].map((finding) => troubleOf(finding, status.at)));
}

/** Returns the verdict of troubles, of one or several processes. The same trouble of several is one. */
export function verdictOf(all: readonly Trouble[]): Verdict {
  const sorted = all.toSorted((one, other) => Number(one.level === 'amber') - Number(other.level === 'amber'));
  const groups = Map.groupBy(sorted, ({ subject, runbook }) => `${subject} ${runbook}`);
  const troubles = [...groups.values()].flatMap((group) => group.slice(0, 1));
  return { level: troubles[0]?.level ?? 'green', troubles };
}

/** Formats how long a trouble has lasted, as its text has it. */
export function lasting(since: string | null, at: string): string {
  return since === null ? '' : ` for ${durationBetween(since, at)}`;
}

/** Returns a finding as a line of the verdict. */
export function troubleOf({ alert, level, subject, what, since = null, why = '' }: Finding, at: string): Trouble {
  const text = `${subject}: ${what}${lasting(since, at)}${why}`;
  return { level, subject, text, runbook: `docs/runbook.md#${alert.toLowerCase()}`, since };
}

function ofUpstream({ name: subject, breaker, opened, queue, lastMinute }: UpstreamStatus): Finding[] {
  return found([
    opened !== null && {
      ...{ alert: 'PorticoBreakerOpen', level: 'red', subject, what: `breaker ${breaker}`, since: opened.since },
      why: ` after ${opened.failures} × ${opened.cause}`,
    },
    queue.waiting > MAX_QUEUED * queue.max && {
      ...{ alert: 'PorticoQueueing', level: 'red', subject, what: `${queue.waiting} of ${queue.max} calls queued` },
    },
    lastMinute.p95Ms > SLOW_MS && {
      ...{ alert: 'PorticoPlatformSlow', level: 'amber', subject },
      what: `p95 ${duration(lastMinute.p95Ms)} in the last minute`,
    },
  ]);
}

function ofResource({ name: subject, lastMinute, staleSince, lastFailure, warnings }: ResourceStatus) {
  const { reads, failed } = lastMinute;
  const why = lastFailure === null ? '' : ` (${lastFailure.code})`;
  const isOwnCredential = lastFailure?.code === 'upstream_credential_rejected';
  return found([
    failed > MAX_FAILED * reads && {
      ...{ alert: isOwnCredential ? 'PorticoOwnCredentialRefused' : 'PorticoReadsFailing', level: 'red', subject },
      ...{ what: `${failed} of ${reads} reads failed in the last minute`, why },
    },
    staleSince !== null && {
      ...{ alert: 'PorticoServingStale', level: 'amber', subject, what: 'served stale', since: staleSince, why },
    },
    warnings.length > 0 && {
      ...{ alert: alertOf(warnings), level: 'amber', subject },
      what: warnings.map(describeWarning).join(', '),
    },
  ]);
}

/** Changes of the platform come first: they explain the others. */
function alertOf(warnings: readonly MappingWarning[]): string {
  if (warnings.some(({ finding }) => CHANGES.includes(finding))) return 'PorticoListDrifted';
  const areDropped = warnings.every(({ finding }) => finding === 'items_dropped');
  return areDropped ? 'PorticoItemsDropped' : 'PorticoMappingDoubtful';
}

const CHANGES: readonly string[] = ['field_lost', 'value_unmapped'];

function ofProcess(process: ProcessStatus, at: string): Finding[] {
  const { descriptors, connections, eventLoopMs, droppedLines, certificates } = process;
  const { open = 0, max = Number.POSITIVE_INFINITY } = descriptors;
  const { log, audit, droppedAt } = droppedLines;
  const isDropping = droppedAt !== null && Date.parse(at) - Date.parse(droppedAt) < RECENT_MS;
  return found([
    eventLoopMs.lastMinute > LATE_MS && {
      ...{ alert: 'PorticoEventLoopLate', level: 'red', subject: 'event loop' },
      what: `p95 of its delay ${duration(eventLoopMs.lastMinute)} in the last minute`,
    },
    isDropping &&
      audit > 0 && {
        ...{ alert: 'PorticoAuditLinesDropped', level: 'red', subject: 'audit', what: `${audit} lines dropped` },
      },
    isDropping &&
      log > 0 && {
        ...{ alert: 'PorticoLogLinesDropped', level: 'amber', subject: 'log', what: `${log} lines dropped` },
      },
    open > MAX_DESCRIPTORS * max && {
      ...{ alert: 'PorticoDescriptorsShort', level: 'amber', subject: 'descriptors', what: `${open} of ${max} open` },
    },
    ...certificates.map(({ name, to }): Finding | false => {
      const days = daysBetween(at, to);
      const isUrgent = days < ALMOST_EXPIRED_DAYS;
      return (
        days < EXPIRING_DAYS && {
          alert: isUrgent ? 'PorticoCertificateAlmostExpired' : 'PorticoCertificateExpiring',
          ...{ level: isUrgent ? 'red' : 'amber', subject: name, what: expiryOf(days) },
        }
      );
    }),
    ...connections.map(
      ({ listener, open: clients, max: most }): Finding | false =>
        clients > MAX_CONNECTIONS * most && {
          ...{ alert: 'PorticoConnectionsFull', level: 'amber', subject: `${listener} listener` },
          what: `${clients} of ${most} connections open`,
        },
    ),
  ]);
}

function found(findings: readonly (Finding | false)[]): Finding[] {
  return findings.filter((finding) => finding !== false);
}
