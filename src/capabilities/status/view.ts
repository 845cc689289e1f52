import type { Period } from './history.ts';
import type { Change } from './recent-changes.ts';
import type { NamedUpstream } from './servers.ts';

/** What only the gateway knows, as it is now. */
export interface Now {
  readonly version: string;
  readonly isDraining: boolean;
  /** Base URL of the public listener. */
  readonly url: string;
  readonly upstreams: readonly NamedUpstream[];
  readonly resources: readonly { readonly name: string; readonly uri: string; readonly upstream: string }[];
  readonly snapshots: { readonly entries: number; readonly bytes: number; readonly maxBytes: number };
  /** The store that replicas share; `undefined`: they share nothing. */
  readonly shared?: { readonly isUp: boolean } | undefined;
  /** The file that the settings are from, and are read from again; `null`: they are from none. */
  readonly settingsFile: string | null;
  /** Effective settings as YAML, with their secrets masked. */
  readonly settings: string;
}

/** What was found about the mapping of a resource when it was loaded last. */
export type Doubt =
  | { readonly finding: 'nothing_left' | 'duplicate_ids' }
  | { readonly finding: 'field_empty'; readonly field: string }
  | { readonly finding: 'items_dropped'; readonly dropped: number; readonly received: number };

/** Why an upstream was of no use when it was so last, in words of ours and codes of the system's. */
export interface Failure {
  /** ISO 8601. */
  readonly at: string;
  /** Of the table. */
  readonly code: string;
  readonly reason: string | null;
  readonly causes: readonly string[];
}

/** How it goes, as of now. Rates and ratios are those of the last ten minutes. */
export interface Status {
  readonly version: string;
  readonly startedAt: string;
  readonly at: string;
  readonly state: 'serving' | 'draining';
  readonly url: string;
  readonly processId: number;
  readonly requests: Period;
  readonly memory: { readonly residentBytes: number; readonly heapBytes: number; readonly heapLimitBytes: number };
  readonly snapshots: Now['snapshots'] & {
    readonly hits: number;
    readonly stale: number;
    readonly misses: number;
    /** Of reads that may be served from what is held; `null` where there were none. */
    readonly hitRatio: number | null;
  };
  /** The store that replicas share, and what it was asked; `null`: they share nothing. */
  readonly shared: {
    readonly isUp: boolean;
    readonly commands: Period;
    /** Calls to upstreams that were not made: another replica had told that the credential was rejected. */
    readonly spared: number;
  } | null;
  readonly upstreams: readonly (Now['upstreams'][number] & {
    readonly total: Period;
    readonly history: readonly Period[];
    /** Calls that were not made: the breaker is open, the queue is full, the credential was refused a moment ago. */
    readonly refused: number;
    /** `null`: none since the start. A caller who was judged is none. */
    readonly lastFailure: Failure | null;
  })[];
  readonly resources: readonly (Now['resources'][number] & {
    readonly loadedAt: string | null;
    readonly items: number | null;
    readonly doubts: readonly Doubt[];
  })[];
  /** The newest first. */
  readonly changes: readonly Change[];
  readonly settingsFile: Now['settingsFile'];
  readonly settings: string;
}
