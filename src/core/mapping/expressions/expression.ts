import { GatewayError } from '../../kernel/errors.ts';
import { checkExpression, childrenOf } from './expression-issue.ts';
import { compileDirect, compileInterpreted, type Evaluate, type ExpressionNode, parse } from './jmespath.ts';

/** Compiled JMESPath (https://jmespath.site): `$` is the whole value, no `let`, functions of `functions.ts` only. */
export interface Expression {
  /** Whether it only selects: then the same expression finds the source text of its numbers in {@link Page.exactItems}. */
  readonly direct: boolean;
  /** Names at its start: `data`, 0 and `list` of `data[0].list[?active]`. */
  readonly leadingFields: readonly (string | number)[];
  /** Returns null if something is missing. Throws `upstream_invalid` when a function rejects its argument. */
  evaluate(value: unknown): unknown;
}

/** Throws a SyntaxError for an expression that {@link checkExpression} refuses. */
export function compileExpression(text: string): Expression {
  const issue = checkExpression(text);
  if (issue !== undefined) throw new SyntaxError(`the expression ${text} ${issue}`);
  const node = parse(text);
  const direct = compileDirect(node);
  return {
    direct: direct !== undefined,
    leadingFields: pathPrefix(node).fields,
    evaluate: direct ?? interpreted(node),
  };
}

function interpreted(node: ExpressionNode): Evaluate {
  const evaluate = compileInterpreted(node);
  return (value) => {
    try {
      return evaluate(value) ?? null;
    } catch (error) {
      // The library's message may contain the value.
      if (error instanceof GatewayError) throw error;
      throw new GatewayError('upstream_invalid', { reason: 'an expression does not fit what it is evaluated over' });
    }
  };
}

/** Returns the fields and indexes at the start of an expression. `whole`: they are the entire expression. */
export function pathPrefix(node: ExpressionNode): {
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
      const left = pathPrefix(node.left);
      if (!left.whole) return left;
      const right = pathPrefix(node.right);
      return { fields: [...left.fields, ...right.fields], whole: right.whole };
    }
    case 'Projection':
    case 'FilterProjection':
    case 'ValueProjection':
    case 'OrExpression':
      return { ...pathPrefix(node.left), whole: false };
    case 'Flatten':
      return { ...pathPrefix(node.child), whole: false };
    case 'AndExpression':
      return { ...pathPrefix(node.right), whole: false };
    case 'Function':
    case 'MultiSelectList':
      return { fields: sharedLeads(node.children), whole: false };
    default:
      return { fields: [], whole: false };
  }
}

/** Common start of all alternatives, and the rest of the first. */
function sharedLeads(nodes: readonly ExpressionNode[]): readonly (string | number)[] {
  const [first = [], ...others] = nodes.map((node) => pathPrefix(node).fields).filter(({ length }) => length > 0);
  const parting = first.findIndex((field, depth) => others.some((other) => other[depth] !== field));
  return parting === -1 ? first : first.slice(0, parting + 1);
}

/** Returns whether an expression calls `length`, as one does that counts the items of its page. */
export function callsLength(text: string): boolean {
  try {
    return hasLength(parse(text));
  } catch {
    return false;
  }
}

function hasLength(node: ExpressionNode): boolean {
  return (node.type === 'Function' && node.name === 'length') || childrenOf(node).some(hasLength);
}
