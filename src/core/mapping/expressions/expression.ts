import { GatewayError } from '../../kernel/errors.ts';
import { compileDirect, type Evaluate } from './direct.ts';
import { isConstant, issueOf, TOO_DEEP } from './expression-issue.ts';
import { type ExpressionNode, interpret, parse } from './jmespath.ts';

/**
 * A compiled JMESPath expression (https://jmespath.site, with `$` for the whole value, without `let`, and with the
 * functions of `functions.ts` only).
 */
export interface Expression {
  /**
   * Whether it only selects. Its numbers then exist in the input, and the same expression finds their source text in
   * {@link Page.exactItems}. Other expressions may compute numbers.
   */
  readonly direct: boolean;
  /** Fields and indexes at its start: `data`, 0 and `list` of `data[0].list[?active]`. */
  readonly leadingFields: readonly (string | number)[];
  /**
   * Evaluates it over a parsed JSON value; null if something is missing. Throws `upstream_invalid` when a function
   * rejects its argument; a direct expression never throws.
   */
  evaluate(value: unknown): unknown;
}

/** Returns the issue of an expression's text, in words that follow its name; undefined if it is valid. */
export function checkExpression(text: string): string | undefined {
  try {
    return issueOf(parse(text));
  } catch (error) {
    return error instanceof RangeError
      ? TOO_DEEP
      : `is no JMESPath expression: ${(error as Error).message}${meantBy(text)}`;
  }
}

/** As {@link checkExpression}, for an expression that must select something. */
export function checkSelection(text: string): string | undefined {
  const issue = checkExpression(text);
  if (issue !== undefined || !isConstant(parse(text))) return issue;
  return 'names no field, and gives the same whatever the platform sends: quotes and backticks make a text of a name';
}

/** Syntax of other languages, by its beginning or content; none of it is JMESPath. */
const ELSEWHERE: readonly (readonly [RegExp, string])[] = [
  [/[=!]==/, 'to compare, write == or !='],
  [/\{\{/, 'write it without {{ and }}'],
  [/^\./, 'a path begins with a name, and @ is the value itself'],
  [/^\w+(?: \w+)+$/, `a name with spaces needs two pairs of quotes: '"…"'`],
];

function meantBy(text: string): string {
  const [, hint] = ELSEWHERE.find(([pattern]) => pattern.test(text)) ?? [];
  return hint === undefined ? '' : `; ${hint}`;
}

/** Compiles an expression that {@link checkExpression} accepts; throws a SyntaxError for others. */
export function compileExpression(text: string): Expression {
  const issue = checkExpression(text);
  if (issue !== undefined) throw new SyntaxError(`the expression ${text} ${issue}`);
  const node = parse(text);
  const direct = compileDirect(node);
  return { direct: direct !== undefined, leadingFields: leadsOf(node).fields, evaluate: direct ?? interpreted(node) };
}

/**
 * Returns the fields and indexes at the start of an expression. `whole`: they are the entire expression, so a following
 * part continues from there.
 */
export function leadsOf(node: ExpressionNode): {
  readonly fields: readonly (string | number)[];
  readonly whole: boolean;
} {
  switch (node.type) {
    case 'Field':
      return { fields: [node.name], whole: true };
    case 'Index':
      return { fields: [node.value], whole: true };
    case 'Current':
    case 'Identity':
    case 'Root':
      return { fields: [], whole: true };
    case 'Subexpression':
    case 'IndexExpression':
    case 'Pipe': {
      const left = leadsOf(node.left);
      if (!left.whole) return left;
      const right = leadsOf(node.right);
      return { fields: [...left.fields, ...right.fields], whole: right.whole };
    }
    case 'Projection':
    case 'FilterProjection':
    case 'ValueProjection':
    case 'OrExpression':
      return { ...leadsOf(node.left), whole: false };
    case 'Flatten':
      return { ...leadsOf(node.child), whole: false };
    case 'AndExpression':
      return { ...leadsOf(node.right), whole: false };
    case 'Function':
    case 'MultiSelectList':
      return { fields: sharedLeads(node.children), whole: false };
    default:
      return { fields: [], whole: false };
  }
}

/** Common start of all alternatives, and the rest of the first. */
function sharedLeads(nodes: readonly ExpressionNode[]): readonly (string | number)[] {
  const [first = [], ...others] = nodes.map((node) => leadsOf(node).fields).filter(({ length }) => length > 0);
  const parting = first.findIndex((field, depth) => others.some((other) => other[depth] !== field));
  return parting === -1 ? first : first.slice(0, parting + 1);
}

function interpreted(node: ExpressionNode): Evaluate {
  return (value) => {
    try {
      return interpret(node, value) ?? null;
    } catch (error) {
      // The library's message may contain the value.
      if (error instanceof GatewayError) throw error;
      throw new GatewayError('upstream_invalid', { reason: 'an expression does not fit what it is evaluated over' });
    }
  };
}
