import type { MappingFinding } from '../../core/kernel/events.ts';

/** Result of `portico check --probe`, as `--json` prints it. Every text in it is safe to print and holds no secret. */
export interface ProbeReport {
  readonly file: string;
  /** Whether every resource was read; with `strict`, without a warning, and with every experiment tried. */
  readonly ok: boolean;
  readonly strict: boolean;
  readonly resources: readonly ResourceReport[];
}

export interface ResourceReport {
  readonly resource: string;
  readonly uri: string;
  readonly upstream: string;
  readonly ok: boolean;
  /** The first request as it was sent, secrets masked. `body` is JSON. */
  readonly request?: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
  };
  /** The response with the first page, or else the last response, with the milliseconds until the page or the headers. */
  readonly response?: { readonly status: number; readonly contentType: string; readonly ms: number };
  readonly ms: number;
  readonly pages: number;
  /** Items of the answer, items that `where` left out, and invalid items that were dropped. */
  readonly items: number;
  readonly excluded: number;
  readonly dropped: number;
  readonly signs: readonly string[];
  readonly first?: FirstItem;
  readonly emptyFields: readonly string[];
  readonly warnings: readonly Warning[];
  readonly extraRequests: number;
  /** Bounds of one read below parents. */
  readonly maxPages?: number;
  readonly maxParents?: number;
  readonly notTried: readonly Untried[];
  readonly notRead?: string;
  readonly error?: ReadFailure;
  readonly lookAt?: readonly ErrorKey[];
}

export type Warning = (MappingFinding & { readonly text: string }) | Finding;

export interface FirstItem {
  readonly raw: unknown;
  readonly mapped?: Readonly<Record<string, string>>;
  readonly from: Readonly<Record<string, string>>;
  readonly why?: string;
}

export interface ReadFailure {
  readonly code: string;
  readonly reason: string;
  readonly said?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Names of the request headers with the refused token, or with Portico's own secret. */
  readonly credentialHeaders?: readonly string[];
}

/** A finding of an experiment. `finding` and `setting` are stable; `setting` is a dotted path. */
export interface Finding {
  readonly finding:
    | 'public_list'
    | 'empty_for_all'
    | 'parameter_ignored'
    | 'pages_incomplete'
    | 'list_empty'
    | 'default_query'
    | 'default_hides_field'
    | 'value_unmapped'
    | 'check_off';
  readonly setting: string;
  readonly text: string;
  /** Set if a correct setting can lead to the same finding with the current items. It does not fail `--strict`. */
  readonly mayBeRight?: true;
}

export interface Untried {
  readonly experiment: string;
  readonly why: string;
}

export interface ErrorKey {
  readonly setting: string;
  readonly value?: number;
}
