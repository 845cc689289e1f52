/** One thing that is wrong in settings. */
export interface ConfigIssue {
  /** Keys and list positions that lead to the setting; empty for the file as a whole. */
  readonly path: readonly (string | number)[];
  /** In plain words, with a hint where there is one. Holds no value, which may be secret, but words of an expression. */
  readonly message: string;
  /** From 1. Absent where settings came as an object. */
  readonly line?: number;
  readonly column?: number;
}

/** A file with thousands of issues is not a settings file: nobody reads on from here. */
const SHOWN = 50;

/** All that is wrong in settings, told at once: `message` has one line an issue. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  /** In the order of the file. */
  readonly issues: readonly ConfigIssue[];

  constructor(issues: readonly ConfigIssue[], file?: string) {
    const sorted = issues.toSorted(byPosition);
    const lines = sorted.slice(0, SHOWN).map((issue) => print(issue, file));
    if (sorted.length > SHOWN) lines.push(`and ${sorted.length - SHOWN} more`);
    super(lines.join('\n'));
    this.issues = sorted;
  }
}

function byPosition(a: ConfigIssue, b: ConfigIssue): number {
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
}

function print({ path, message, line, column }: ConfigIssue, file: string | undefined): string {
  const place = line === undefined ? file : `${file}:${line}:${column}`;
  const parts = [place, dottedPath(path), message].filter((part) => part !== undefined && part !== '');
  // One line, and nothing that a terminal obeys: what an expression or a file name holds is anybody's.
  return parts.join(': ').replace(/\p{Cc}+/gu, ' ');
}

/** A path as people write it: `http.allowedHosts[0]`, `upstreams.projects.headers["X.Y"]`. */
function dottedPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    const key = String(step);
    if (!/^[\w$-]+$/.test(key)) return `${text}[${JSON.stringify(key)}]`;
    return text === '' ? key : `${text}.${key}`;
  }, '');
}
