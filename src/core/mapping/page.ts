import { GatewayError } from '../kernel/errors.ts';
import { quoteInexactNumbers } from './exact-numbers.ts';
import { compileExpression, type Expression } from './expressions/expression.ts';
import { fieldOf, isTruthy } from './expressions/jmespath.ts';

export interface Page {
  readonly body: unknown;
  readonly items: readonly unknown[];
  /** Objects around the list, the body first, each with its path. */
  readonly enclosing: readonly { readonly fields: readonly (string | number)[]; readonly value: object }[];
  /** The items with the source text of each number that does not print as written; undefined if all do. */
  exactItems(): readonly unknown[] | undefined;
}

export interface PageExpressions {
  readonly items: string;
  /** Whether a page failed despite status 200. */
  readonly errors?: string | null | undefined;
}

/** Throws `upstream_invalid` for what is no list in JSON, `upstream_failed` for a page that reports errors. */
export function createPageParser({ items: itemsExpression, errors }: PageExpressions): (text: string) => Page {
  const expression = compileExpression(itemsExpression);
  const failure = errors == null ? undefined : compileExpression(errors);
  return (text) => {
    const body = parseJson(text);
    // Checked before the items, which are usually null on such a page.
    if (failure !== undefined && isError(failure.evaluate(body))) throw new GatewayError('upstream_failed', FAILED);
    const items = expression.evaluate(body);
    if (!Array.isArray(items))
      throw new GatewayError('upstream_invalid', { reason: 'the page has no list of items at the configured place' });
    let exact: { readonly items: readonly unknown[] | undefined } | undefined;
    return {
      body,
      items,
      enclosing: enclosingOf(body, expression.leadingFields),
      exactItems: () => {
        exact ??= { items: exactItemsOf(text, body, items, expression) };
        return exact.items;
      },
    };
  };
}

const FAILED = {
  detail: 'The platform answered with errors instead of a list. Trying again may help.',
  reason: 'the page contains errors',
};

/** An empty list, an empty text, false and 0 are no errors. */
function isError(value: unknown): boolean {
  return isTruthy(value) && value !== 0;
}

function enclosingOf(body: unknown, leading: readonly (string | number)[]): Page['enclosing'] {
  const enclosing: { fields: readonly (string | number)[]; value: object }[] = [];
  let value = body;
  for (const [depth, step] of leading.entries()) {
    if (typeof value !== 'object' || value === null) break;
    if (!Array.isArray(value)) enclosing.push({ fields: leading.slice(0, depth), value });
    if (typeof step === 'string') value = fieldOf(value, step);
    else value = Array.isArray(value) ? value.at(step) : null;
  }
  return enclosing;
}

function exactItemsOf(
  text: string,
  body: unknown,
  items: readonly unknown[],
  expression: Expression,
): readonly unknown[] | undefined {
  const quoted = quoteInexactNumbers(text);
  if (quoted === undefined) return undefined;
  const exactBody: unknown = JSON.parse(quoted);
  if (expression.direct) return expression.evaluate(exactBody) as readonly unknown[];
  // Other expressions may compare numbers, and would select other items if those were texts.
  const twins = twinsOf(body, exactBody);
  return items.map((item) => twins.get(item) ?? item);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The message contains the text that could not be parsed.
    throw new GatewayError('upstream_invalid', { reason: 'the page is not JSON' });
  }
}

/** Maps each object and list to its place in a text of equal structure. Pages may nest deeper than the call stack. */
function twinsOf(value: unknown, other: unknown): ReadonlyMap<unknown, unknown> {
  const twins = new Map<unknown, unknown>();
  const open: (readonly [unknown, unknown])[] = [[value, other]];
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const [left, right] = pair;
    if (typeof left !== 'object' || left === null) continue;
    twins.set(left, right);
    const rights = Object.values(right as object);
    for (const [index, part] of Object.values(left).entries()) open.push([part, rights[index]]);
  }
  return twins;
}
