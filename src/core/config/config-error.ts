export interface ConfigIssue {
  /** Keys and list positions that lead to the setting; empty for the file as a whole. */
  readonly path: readonly (string | number)[];
  /** Holds no value, which may be secret, but words of an expression. */
  readonly message: string;
  /** Counted from 1. Absent where settings came as an object. */
  readonly line?: number;
  readonly column?: number;
}

/** An issue that has no place in a file yet. */
export interface Finding extends Pick<ConfigIssue, 'path' | 'message'> {
  /** Whether the last key of the path is wrong, and not its value. @default false */
  readonly key?: boolean;
}

/** Issues that a message lists: a file with thousands is not a settings file. */
const MAX_LISTED_ISSUES = 50;

/** Reports all issues of settings at once: `message` has one line per issue. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly issues: readonly ConfigIssue[];
  readonly file: string | undefined;

  constructor(issues: readonly ConfigIssue[], file?: string) {
    const inOrder = sorted(issues);
    const lines = inOrder.slice(0, MAX_LISTED_ISSUES).map((issue) => issueLine(issue, file));
    if (inOrder.length > MAX_LISTED_ISSUES) lines.push(`and ${inOrder.length - MAX_LISTED_ISSUES} more`);
    super(lines.join('\n'));
    this.issues = inOrder;
    this.file = file;
  }
}

function sorted(issues: readonly ConfigIssue[]): ConfigIssue[] {
  return issues.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}

/** An issue in one line: its place, `severity` where it is none of the worst, its path, and what it is. */
export function issueLine(
  { path, message, line, column }: ConfigIssue,
  file: string | undefined,
  severity = '',
): string {
  const place = line === undefined ? file : `${file}:${line}:${column}`;
  const parts = [place, severity, dottedPath(path), message].filter((part) => part !== undefined && part !== '');
  return onOneLine(parts.join(': '));
}

/** Returns a text without control characters: expressions and file names are untrusted. */
export function onOneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
}

/** A path as people write it: `http.allowedHosts[0]`, `upstreams.projects.headers["X.Y"]`. */
export function dottedPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    const key = String(step);
    if (!/^[\w$-]+$/.test(key)) return `${text}[${JSON.stringify(key)}]`;
    return text === '' ? key : `${text}.${key}`;
  }, '');
}

/** Returns the warnings of a settings file as lines for a terminal. */
export function warningLines(warnings: readonly ConfigIssue[], file: string): string {
  return warnings.map((warning) => `${issueLine(warning, file, 'warning')}\n`).join('');
}

export function logWarnings(
  logger: { warn(fields: object, message: string): void },
  warnings: readonly ConfigIssue[],
): void {
  for (const { path, line, message } of warnings) {
    logger.warn({ setting: dottedPath(path), line, warning: message }, 'settings doubtful');
  }
}

/** Returns `; did you mean timeoutMs?` for the first known word that contains this one or has nearly its letters, or an empty text. */
export function didYouMean(word: string, known: readonly string[]): string {
  const extra = (a: string, b: string) => [...b].reduce((rest, letter) => rest.replace(letter, ''), a).length;
  const distance = (a: string, b: string) => extra(a, b) + extra(b, a);
  const written = word.slice(0, 64).toLowerCase();
  const isNear = (other: string) =>
    (written.length > 2 && other.includes(written)) ||
    (other[0] === written[0] && distance(written, other) <= written.length / 2.5);
  const near = known.find((other) => isNear(other.toLowerCase()));
  return near === undefined ? '' : `; did you mean ${near}?`;
}

/** Runs each and returns their results, or throws one `ConfigError` with the issues of all. */
export function collectIssues<const Results extends readonly unknown[]>(
  all: {
    readonly [Index in keyof Results]: () => Results[Index];
  },
): Results {
  const issues: ConfigIssue[] = [];
  const results = all.map((one: () => unknown) => {
    try {
      return one();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      issues.push(...error.issues);
      return undefined;
    }
  });
  if (issues.length > 0) throw new ConfigError(issues);
  return results as readonly unknown[] as Results;
}
