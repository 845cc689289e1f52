import type { MappingFinding } from '../../core/kernel/events.ts';
import type { Change } from './recent-changes.ts';

/** A warning about the mapping of a resource, found at its last load. */
export type MappingWarning =
  | MappingFinding
  | { readonly finding: 'items_dropped'; readonly dropped: number; readonly received: number };

export type Level = 'red' | 'amber' | 'green';

/** One line of the verdict. */
export interface Trouble {
  /** `red`: callers get no lists, or soon will not. */
  readonly level: Exclude<Level, 'green'>;
  /** An upstream, a resource, or a part of Portico. */
  readonly subject: string;
  readonly text: string;
  /** Section of the runbook, as in the alert rules. The admin listener serves it under this path. */
  readonly runbook: string;
  /** ISO 8601; `null` for what is counted over a time. */
  readonly since: string | null;
}

export interface Verdict {
  /** The worst of the troubles; `green` without any. */
  readonly level: Level;
  /** The worst first. */
  readonly troubles: readonly Trouble[];
}

/** Totals of one slot, or of several. */
export interface Period {
  readonly requests: number;
  readonly failures: number;
  /** p50 and p95, to a fifth. 0 without requests. */
  readonly medianMs: number;
  readonly p95Ms: number;
}

/** The last failure of an upstream, or of the reads of a resource. */
export interface Failure {
  /** ISO 8601. */
  readonly at: string;
  /** Code of the error table. */
  readonly code: string;
  readonly reason: string | null;
  /** Names and codes of the errors behind it. */
  readonly causes: readonly string[];
}

/** The status of a gateway, as `/status` returns it. Counts are those of the last ten minutes, unless they say otherwise. */
export interface Status {
  readonly verdict: Verdict;
  /** Name of the host. */
  readonly instance: string;
  /** Of the settings in force, as the metric `portico_settings_info` has it. */
  readonly settingsHash: string;
  readonly version: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly at: string;
  readonly state: 'serving' | 'draining';
  /** Base URL of the public listener. */
  readonly url: string;
  readonly processId: number;
  /** Failed: with a status of 500 or above, or in JSON-RPC with an error that has such a status over HTTP. */
  readonly requests: Period;
  readonly lastMinute: Period;
  readonly process: ProcessStatus;
  readonly memory: { readonly residentBytes: number; readonly heapBytes: number; readonly heapLimitBytes: number };
  readonly snapshots: {
    readonly entries: number;
    readonly bytes: number;
    readonly maxBytes: number;
    readonly hits: number;
    readonly stale: number;
    readonly misses: number;
    /** Share of the cacheable reads that memory served; `null` without such reads. */
    readonly hitRatio: number | null;
    /** Reads of the last minute that memory served, and all cacheable ones. */
    readonly lastMinute: { readonly served: number; readonly reads: number };
  };
  /** Redis; `null` without the setting `shared`. */
  readonly shared: {
    readonly isUp: boolean;
    readonly commands: Period;
    /** Calls to upstreams that were not made because another replica had reported that the token was rejected. */
    readonly spared: number;
  } | null;
  /** Upstreams in settings, then other servers that these depend on. */
  readonly upstreams: readonly UpstreamStatus[];
  readonly resources: readonly ResourceStatus[];
  /** The newest first. */
  readonly changes: readonly Change[];
  /** `null` where settings are not from a file. */
  readonly settingsFile: string | null;
  /** Effective settings as YAML, with their secrets masked. */
  readonly settings: string;
}

export interface UpstreamStatus {
  readonly name: string;
  /** State of its circuit breaker. */
  readonly breaker: string;
  /** When the breaker opened last, and after which failures; `null` while it is closed. */
  readonly opened: { readonly since: string; readonly failures: number; readonly cause: string } | null;
  readonly total: Period;
  readonly lastMinute: Period;
  readonly history: readonly Period[];
  /** Calls that were not made: the breaker was open, the queue was full, or the token was rejected a moment ago. */
  readonly refused: number;
  readonly refusedBy: { readonly breaker: number; readonly queue: number; readonly token: number };
  /** Calls that wait for a connection. */
  readonly queue: { readonly waiting: number; readonly max: number };
  /** `null`: none since the start. The rejection of a caller is not a failure. */
  readonly lastFailure: Failure | null;
}

export interface ResourceStatus {
  readonly name: string;
  readonly uri: string;
  readonly upstream: string;
  /** ISO 8601; `null` before the first load. */
  readonly loadedAt: string | null;
  readonly items: number | null;
  readonly reads: ReadCounts;
  readonly lastMinute: ReadCounts;
  /** Since when reads are served stale because of an error. ISO 8601; `null` where none is. */
  readonly staleSince: string | null;
  readonly lastFailure: Failure | null;
  readonly warnings: readonly MappingWarning[];
}

/** Reads of one resource. */
export interface ReadCounts {
  readonly reads: number;
  /** Not because of the caller. */
  readonly failed: number;
  readonly stale: number;
  /** Those of the stale ones that an error caused. */
  readonly staleOnError: number;
}

/** The process. */
export interface ProcessStatus {
  /** Absent where they are not known. */
  readonly descriptors: { readonly open?: number | undefined; readonly max?: number | undefined };
  readonly connections: readonly { readonly listener: string; readonly open: number; readonly max: number }[];
  /** p95 of the delays. */
  readonly eventLoopMs: { readonly lastMinute: number; readonly tenMinutes: number };
  /** Certificates in use, by the setting that names their file. `to`: the end of validity; ISO 8601. */
  readonly certificates: readonly { readonly name: string; readonly to: string }[];
  /** Lines that were dropped since the start. `droppedAt`: when the last one was noticed; ISO 8601. */
  readonly droppedLines: { readonly log: number; readonly audit: number; readonly droppedAt: string | null };
}
