import { styleText } from 'node:util';
import { stringify } from 'yaml';
import type { MappingFinding } from '../../core/kernel/events.ts';

/** Result of `portico check --probe`, as `--json` prints it. Every text in it is safe to print and holds no secret. */
export interface ProbeReport {
  readonly file: string;
  /** Whether every resource was read; with `strict`, without a warning, and with every experiment tried. */
  readonly ok: boolean;
  readonly strict: boolean;
  readonly resources: readonly ResourceReport[];
}

/** The order of the keys is that of the printed report. */
export interface ResourceReport {
  readonly resource: string;
  readonly uri: string;
  readonly upstream: string;
  readonly ok: boolean;
  /** Why no request was sent. */
  readonly notRead?: string;
  /** The first request as it was sent, secrets masked. `body` is JSON. */
  readonly request?: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
  };
  /** The response with the first page, or else the last response, with the milliseconds until the page or the headers. */
  readonly response?: { readonly status: number; readonly contentType: string; readonly ms: number };
  readonly error?: ReadFailure;
  readonly ms: number;
  readonly pages: number;
  /** Items of the answer, items that `where` left out, and invalid items that were dropped. */
  readonly items: number;
  readonly excluded: number;
  readonly dropped: number;
  readonly signs: readonly string[];
  readonly emptyFields: readonly string[];
  readonly first?: FirstItem;
  readonly extraRequests: number;
  /** Bounds of one read below parents. */
  readonly maxPages?: number;
  readonly maxParents?: number;
  readonly warnings: readonly Warning[];
  readonly notTried: readonly Untried[];
}

export type Warning = (MappingFinding & { readonly text: string }) | Finding;

/** The first item that can be served, or else the first as it was received. */
export interface FirstItem {
  readonly raw: unknown;
  readonly mapped?: Readonly<Record<string, string>>;
}

export interface ReadFailure {
  readonly code: string;
  /** Names the settings that can have caused it. */
  readonly reason: string;
  /** The beginning of the body, and headers of the reply that explain it. */
  readonly said?: string;
  readonly headers?: Readonly<Record<string, string>>;
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

/** Formats a report for a person: as YAML, without what is empty, with a line for each warning, and one that states the result. */
export function printReport(report: ProbeReport): string {
  const blocks = report.resources.map(({ warnings, notTried, ...resource }) => {
    const shown = Object.entries(resource).filter(([, value]) => value !== 0 && [value].flat().length > 0);
    const lines = [
      ...warnings.map(({ text }) => `${styleText('yellow', 'warning:')} ${text}\n`),
      ...notTried.map(({ experiment, why }) => `${styleText('yellow', 'not tried:')} ${experiment}: ${why}\n`),
    ];
    return stringify(Object.fromEntries(shown), { lineWidth: 0 }) + lines.join('');
  });
  return `${[...blocks, styleText(report.ok ? 'green' : 'red', verdictOf(report))].join('\n')}\n`;
}

/** Returns the last line. Resources are "read whole" only without any doubt. */
function verdictOf({ file, ok, strict, resources }: ProbeReport): string {
  const read = resources.filter((resource) => resource.ok);
  const warnings = read.flatMap((resource) => resource.warnings).length;
  const untried = read.flatMap((resource) => resource.notTried).length;
  const doubts = [
    ...(warnings > 0 ? [counted(warnings, 'warning')] : []),
    ...(untried > 0 ? [`${counted(untried, 'experiment')} not tried`] : []),
  ];
  const word = ok ? 'OK' : strict ? 'FAILED (--strict)' : 'FAILED';
  const how = doubts.length === 0 ? ' whole' : `, with ${doubts.join(' and ')}`;
  return `${file}: ${word}: ${read.length} of ${resources.length} resources could be read${how}`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
