import { GatewayError } from '../kernel/errors.ts';
import { quoteInexactNumbers } from './exact-numbers.ts';
import { compileExpression, type Expression } from './expressions/expression.ts';
import { fieldOf, isTruthy } from './expressions/jmespath.ts';

/** One page of an upstream's list, parsed. */
export interface Page {
  readonly body: unknown;
  /** The elements of the list, in order, as `JSON.parse` gives them. */
  readonly items: readonly unknown[];
  /** The objects on the way to the list, the body first, each with the fields and places that lead to it. */
  readonly enclosing: readonly { readonly fields: readonly (string | number)[]; readonly value: object }[];
  /**
   * The same items, where each number that does not print as it was written is its source text instead; undefined when
   * every number of the page prints as written. Parsed on first use.
   *
   * An item that the items expression itself put together (`items[].{id: id}`) stands here as it is: its numbers have
   * no source text any more.
   */
  exactItems(): readonly unknown[] | undefined;
}

/** Where pages hold what is looked for in them (JMESPath over the body). */
export interface PageExpressions {
  readonly items: string;
  /** What says that a page failed although it came with status 200; `null` or nothing where none does. */
  readonly errors?: string | null | undefined;
}

/**
 * Compiles where pages hold their items into a parser. The parser throws `upstream_invalid` for a text that is not JSON, and
 * where the items are no list; `upstream_failed` where a page says that it failed.
 */
export function createPageParser({ items: itemsExpression, errors }: PageExpressions): (text: string) => Page {
  const expression = compileExpression(itemsExpression);
  const failure = errors == null ? undefined : compileExpression(errors);
  return (text) => {
    const body = parseJson(text);
    // Ahead of the items: in place of those, such a page mostly has null.
    if (failure !== undefined && isError(failure.evaluate(body))) throw new GatewayError('upstream_failed', FAILED);
    const items = expression.evaluate(body);
    if (!Array.isArray(items))
      throw new GatewayError('upstream_invalid', { reason: 'the page holds no list of items where settings say' });
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
  detail: 'The platform answered this read with errors, and not with a list. Trying again may help.',
  reason: 'the page holds errors',
};

/** Not so are an empty list, an empty text, false, and a count of 0. */
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
  // Anything else may compare numbers, and would select other items where they are texts.
  const twins = twinsOf(body, exactBody);
  return items.map((item) => twins.get(item) ?? item);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The message shows the text that could not be parsed.
    throw new GatewayError('upstream_invalid', { reason: 'the page is not JSON' });
  }
}

/**
 * For each object and list of a parsed JSON text, the one that stands at the same place of another text of the same
 * structure. Keeps its own stack: an upstream's page may nest deeper than the call stack reaches.
 */
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
