import { GatewayError } from '../kernel/errors.ts';
import { otherList, saysOtherwise } from './empty-reply.ts';
import { compileExpression, type Expression } from './expressions/expression.ts';
import { fieldOf, isTruthy } from './expressions/jmespath.ts';
import { quoteInexactNumbers, repeatsMember } from './json-source.ts';
import { type Fault, faultIn, type SeenFault } from './reply-fault.ts';

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
  /** @default none */
  readonly ignoreErrors?: readonly Fault[] | undefined;
  /** Meaning of an object in place of the list. @default 'error' */
  readonly objectAs?: 'error' | 'item' | 'items' | undefined;
  /** Accepts an empty list whatever else the reply says. @default false */
  readonly allowEmpty?: boolean | undefined;
}

/** Throws `upstream_invalid` for what is no list in JSON, or reports a fault, and `upstream_failed` for a page with errors. */
export function createPageParser(settings: PageExpressions): (text: string) => Page {
  const { errors, ignoreErrors, objectAs, allowEmpty } = settings;
  const expression = compileExpression(settings.items);
  const { leadingFields: leads } = expression;
  const failure = errors == null ? undefined : compileExpression(errors);
  return (written) => {
    // Some platforms put this in front of JSON, so that no page of another site can run it as a script. McAfee ePO writes OK.
    const text = written.replace(/^\s*(?:\)\]\}'?,?|while\s*\(1\);?|for\s*\(;;\);?|\{\}\s*&&|OK:)\s*/, '');
    const body = parseJson(text);
    if (repeatsMember(text, leads)) throw invalid('a member on the way to the list occurs twice in one object');
    // Checked before the items, which are usually null on such a page.
    if (failure !== undefined && isError(failure.evaluate(body))) throw new GatewayError('upstream_failed', FAILED);
    const enclosing = enclosingOf(body, leads);
    const fault = faultIn(enclosing.length > 0 ? enclosing.map(({ value }) => value) : objectsIn(body), ignoreErrors);
    if (fault !== undefined) throw faulty(fault);
    const selected = expression.evaluate(body);
    const items = itemsIn(selected, objectAs) ?? (isEmpty(selected) ? [] : undefined);
    if (items === undefined) {
      const found = typeof selected === 'object' ? 'an object, which objectAs can read' : `a ${typeof selected}`;
      throw invalid([NO_LIST, `but ${found}`, otherList(body, leads)].filter(Boolean).join(', '));
    }
    if (!Array.isArray(selected) && items.length === 0 && allowEmpty !== true) {
      const other = saysOtherwise(body, leads);
      if (other !== undefined) throw invalid(`${NO_LIST}, and ${other}`);
    }
    let exact: { readonly items: readonly unknown[] | undefined } | undefined;
    return {
      body,
      items,
      enclosing,
      exactItems: () => {
        exact ??= { items: exactItemsOf(text, body, items, expression, objectAs) };
        return exact.items;
      },
    };
  };
}

const NO_LIST = 'the page has no list of items at the configured place';

function invalid(reason: string): GatewayError {
  return new GatewayError('upstream_invalid', { reason });
}

function faulty({ fault, seen }: SeenFault): GatewayError {
  const cure = `set ignoreErrors: [${fault}] of the resource if such lists are complete`;
  return new GatewayError('upstream_invalid', {
    reason: `the reply has status 200 and reports a fault (${seen}): ${cure}`,
    detail: `The platform replied with status 200 and reported a fault (${seen}). The operator of Portico can ${cure}.`,
  });
}

function objectsIn(body: unknown): readonly object[] {
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? [body] : [];
}

/** How platforms write an empty list, other than as one. */
function isEmpty(value: unknown): boolean {
  return value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
}

/** The list; or the object in its place as one item, or as items by their ids. */
function itemsIn(value: unknown, objectAs: PageExpressions['objectAs']): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'object' || value === null || isEmpty(value)) return undefined;
  if (objectAs === 'item') return [value];
  if (objectAs !== 'items') return undefined;
  return Object.entries(value).map(([id, item]) =>
    typeof item === 'object' && item !== null && !Array.isArray(item) ? { id, ...item } : { id, value: item },
  );
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
  objectAs: PageExpressions['objectAs'],
): readonly unknown[] | undefined {
  const quoted = quoteInexactNumbers(text);
  if (quoted === undefined) return undefined;
  const exactBody: unknown = JSON.parse(quoted);
  if (expression.direct) return itemsIn(expression.evaluate(exactBody), objectAs);
  // Other expressions may compare numbers, and would select other items if those were texts.
  const twins = twinsOf(body, exactBody);
  return items.map((item) => twins.get(item) ?? item);
}

/** An empty body says no more than that there is nothing. */
function parseJson(text: string): unknown {
  if (text.trim() === '') return null;
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
