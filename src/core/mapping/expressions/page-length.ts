import { leadsOf } from './expression.ts';
import { childrenOf } from './expression-issue.ts';
import { type ExpressionNode, parse } from './jmespath.ts';

/**
 * Returns whether an expression counts the items of a page or what they are selected from: it applies `length` to a
 * path that `items` starts with. False if either does not parse.
 */
export function countsPage(expression: string, items: string): boolean {
  try {
    const { fields } = leadsOf(parse(items));
    return lengthPaths(parse(expression), []).some((path) => path.every((field, depth) => field === fields[depth]));
  } catch {
    return false;
  }
}

type Path = readonly (string | number)[];

/** Returns the paths that `length` is applied to within an expression evaluated at `at`. */
function lengthPaths(node: ExpressionNode, at: Path): Path[] {
  if (node.type === 'Subexpression' || node.type === 'Pipe') {
    const { fields, whole } = leadsOf(node.left);
    return [...lengthPaths(node.left, at), ...(whole ? lengthPaths(node.right, [...at, ...fields]) : [])];
  }
  const inner = childrenOf(node).flatMap((child) => lengthPaths(child, at));
  if (node.type !== 'Function' || node.name !== 'length') return inner;
  const [list] = node.children;
  if (list === undefined) return inner;
  return [...inner, [...at, ...leadsOf(list).fields]];
}
