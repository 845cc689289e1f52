import type { Period } from './history.ts';
import type { Change } from './recent-changes.ts';

/** A warning about the mapping of a resource, found at its last load. */
export type MappingWarning =
  | { readonly finding: 'nothing_left' | 'duplicate_ids' }
  | { readonly finding: 'field_empty'; readonly field: string }
  | { readonly finding: 'items_dropped'; readonly dropped: number; readonly received: number };

/** The last failure of an upstream. */
export interface Failure {
  /** ISO 8601. */
  readonly at: string;
  /** Code of the error table. */
  readonly code: string;
  readonly reason: string | null;
  /** Names and codes of the errors behind it. */
  readonly causes: readonly string[];
}

/** The status of a gateway, as `/status` returns it. Rates and ratios are those of the last ten minutes. */
export interface Status {
  readonly version: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly at: string;
  readonly state: 'serving' | 'draining';
  /** Base URL of the public listener. */
  readonly url: string;
  readonly processId: number;
  readonly requests: Period;
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
  readonly total: Period;
  readonly history: readonly Period[];
  /** Calls that were not made: the breaker was open, the queue was full, or the token was rejected a moment ago. */
  readonly refused: number;
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
  readonly warnings: readonly MappingWarning[];
}
