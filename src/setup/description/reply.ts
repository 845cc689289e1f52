import { compileExpression } from '../../core/mapping/expressions/expression.ts';

/** What a platform answered with, as far as it is JSON. */
export interface Reply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** Undefined where it is no JSON. */
  readonly body: unknown;
}

/** Asks a platform for a path below its base URL. Undefined where it did not answer, or may not be asked any more. */
export type Ask = (path: string, query?: Readonly<Record<string, string>>) => Promise<Reply | undefined>;

/** A list that a platform answered with. */
export interface SeenList {
  readonly path: string;
  readonly items: string;
  readonly reply: Reply;
}

/** The items of a reply. */
export function itemsOf(body: unknown, items: string): readonly unknown[] {
  const found = compileExpression(items).evaluate(body ?? null);
  return Array.isArray(found) ? found : [];
}
