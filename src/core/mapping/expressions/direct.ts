import { type ExpressionNode, fieldOf, isTruthy } from './jmespath.ts';

/** Evaluates one expression over a parsed JSON value. */
export type Evaluate = (value: unknown) => unknown;

/**
 * Compiles a *direct* expression (fields, indexes, `@`, literals, joined by `.`, `|`, `||`, `&&`, `!`) to property
 * access. Returns undefined for others.
 *
 * A direct expression only selects, and never distinguishes a number from a non-empty text. So it finds the same place
 * on a page whose numbers are texts, which is how a mapped number gets its source text.
 */
export function compileDirect(node: ExpressionNode): Evaluate | undefined {
  switch (node.type) {
    case 'Current':
    case 'Identity':
      return (value) => value;
    case 'Literal':
      return () => node.value;
    case 'Field': {
      const { name } = node;
      return (value) => fieldOf(value, name);
    }
    case 'Index': {
      const { value: index } = node;
      return (value) => (Array.isArray(value) ? (value.at(index) ?? null) : null);
    }
    case 'Subexpression':
    case 'IndexExpression':
    case 'Pipe':
      return both(node, (left, right) => (value) => right(left(value)));
    case 'OrExpression':
      return both(node, (left, right) => (value) => {
        const result = left(value);
        return isTruthy(result) ? result : right(value);
      });
    case 'AndExpression':
      return both(node, (left, right) => (value) => {
        const result = left(value);
        return isTruthy(result) ? right(value) : result;
      });
    case 'NotExpression': {
      const child = compileDirect(node.child);
      return child && ((value) => !isTruthy(child(value)));
    }
    default:
      return undefined;
  }
}

function both(
  node: { readonly left: ExpressionNode; readonly right: ExpressionNode },
  combine: (left: Evaluate, right: Evaluate) => Evaluate,
): Evaluate | undefined {
  const left = compileDirect(node.left);
  const right = left && compileDirect(node.right);
  return left && right && combine(left, right);
}
