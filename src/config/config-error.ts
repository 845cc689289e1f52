import { dottedPath } from './dotted-path.ts';

/** One thing that is wrong in settings. */
export interface Mistake {
  /** Keys and list positions that lead to the setting; empty for the file as a whole. */
  readonly path: readonly (string | number)[];
  /** In plain words, with a hint where there is one. Holds no value, which may be secret, but words of an expression. */
  readonly message: string;
  /** From 1. Absent where settings came as an object. */
  readonly line?: number;
  readonly column?: number;
}

/** A file of thousands of mistakes is not a settings file: nobody reads on from here. */
const SHOWN = 50;

/** All that is wrong in settings, told at once: `message` has one line a mistake. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  /** In the order of the file. */
  readonly mistakes: readonly Mistake[];

  constructor(mistakes: readonly Mistake[], file?: string) {
    const sorted = mistakes.toSorted(byPosition);
    const lines = sorted.slice(0, SHOWN).map((mistake) => print(mistake, file));
    if (sorted.length > SHOWN) lines.push(`and ${sorted.length - SHOWN} more`);
    super(lines.join('\n'));
    this.mistakes = sorted;
  }
}

function byPosition(a: Mistake, b: Mistake): number {
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
}

function print({ path, message, line, column }: Mistake, file: string | undefined): string {
  const place = line === undefined ? file : `${file}:${line}:${column}`;
  const parts = [place, dottedPath(path), message].filter((part) => part !== undefined && part !== '');
  // One line, and nothing that a terminal obeys: what an expression or a file name holds is anybody's.
  return parts.join(': ').replace(/\p{Cc}+/gu, ' ');
}
