import type { MappingFinding } from '../../core/mapping/findings.ts';
import type { ErrorKey } from './error-keys.ts';
import type { Shown } from './experiments/experiment.ts';
import type { Untried } from './experiments/run.ts';

/** What `portico check --probe` found out: what `--json` prints. Every text in it is safe to print, and holds no secret. */
export interface ProbeReport {
  readonly file: string;
  /** Whether every resource was read; with `strict`, without a warning, and with every experiment tried. */
  readonly ok: boolean;
  readonly strict: boolean;
  readonly resources: readonly ResourceReport[];
}

/** What came of the read of one resource. */
export interface ResourceReport {
  readonly resource: string;
  readonly uri: string;
  /** As settings call it. */
  readonly upstream: string;
  readonly ok: boolean;
  /** The first request as it was sent, secrets masked; absent where none was. */
  readonly request?: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    /** JSON, of a POST that has a body. */
    readonly body?: string;
  };
  /** The response that brought the first page, or else the last one. */
  readonly response?: {
    readonly status: number;
    readonly contentType: string;
    /** Milliseconds until it was there, the whole page where it is one. */
    readonly ms: number;
  };
  /** Milliseconds of the whole read. */
  readonly ms: number;
  readonly pages: number;
  /** Items of the answer. */
  readonly items: number;
  /** Items that `where` left out. */
  readonly excluded: number;
  /** Items left out since they could not be mapped (`invalidItems: drop`). */
  readonly dropped: number;
  /** What the first page says of how its list goes on. */
  readonly signs: readonly string[];
  readonly first?: FirstItem;
  /** Documented fields that are empty in every item of the answer. */
  readonly emptyFields: readonly string[];
  /** What is to be doubted of a read that came to its end. */
  readonly warnings: readonly Warning[];
  /** Requests of experiments, beside those of the read. */
  readonly extraRequests: number;
  /** Experiments that showed nothing. */
  readonly notTried: readonly Untried[];
  /** Why nothing was sent. */
  readonly notRead?: string;
  readonly error?: ProbeError;
  /** Settings to look at after an error. */
  readonly lookAt?: readonly ErrorKey[];
  readonly suggestions: readonly Suggestion[];
}

/** What is to be doubted, and the same in words. */
export type Warning = (MappingFinding & { readonly text: string }) | Shown;

/** An item as the platform sent it, and what became of it. */
export interface FirstItem {
  readonly raw: unknown;
  /** By documented field; absent where none of the items that were looked at could be mapped. */
  readonly mapped?: Readonly<Record<string, string>>;
  /** The expressions that its documented fields are made with. */
  readonly from: Readonly<Record<string, string>>;
  /** Why it could not be mapped. */
  readonly why?: string;
}

/** Why a read failed. */
export interface ProbeError {
  /** Code of the error table: what a caller is told. */
  readonly code: string;
  /** For the operator. */
  readonly reason: string;
  /** The beginning of what the platform itself said. */
  readonly said?: string;
  /** Headers of its response that tell what to do: where to go, how to authenticate, how long to wait. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Names of the headers that held the token, or Portico's own secret, where the platform refused it. */
  readonly credentialHeaders?: readonly string[];
}

/** A setting that seems to fit what the platform sent. */
export interface Suggestion {
  /** Dotted path in the settings file. */
  readonly setting: string;
  /** As it is written there. */
  readonly value: string;
  readonly why: string;
}
