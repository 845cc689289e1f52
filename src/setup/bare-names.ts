import { childrenOf } from '../core/mapping/expressions/expression-issue.ts';
import { type ExpressionNode, parse } from '../core/mapping/expressions/jmespath.ts';

/** An unquoted name, which is read as a field, where a text may have been meant. */
export interface BareName {
  readonly name: string;
  /** Role: `compared` with another field, or the `value` of the expression or of its `fallback`. */
  readonly as: 'compared' | 'value' | 'fallback';
  readonly written: string;
  readonly quoted: string;
}

/** Names of JSON that have no meaning in JMESPath. */
const LITERALS: readonly string[] = ['true', 'false', 'null'];

const OPERATORS: Readonly<Record<string, string>> = { EQ: '==', NE: '!=' };

/** Returns the bare names of an expression that parses. `@.name` is certainly a field. */
export function bareNamesOf(expression: string): BareName[] {
  const found: BareName[] = [];
  const root = parse(expression);
  collect(root, found);
  collectValues(root, 'value', found);
  return found;
}

function collect(node: ExpressionNode, found: BareName[]): void {
  if (node.type === 'Comparator') addCompared(node, found);
  for (const child of childrenOf(node)) collect(child, found);
}

/** Comparing two fields is rare, so one is probably a text. */
function addCompared(node: Extract<ExpressionNode, { type: 'Comparator' }>, found: BareName[]): void {
  const operator = OPERATORS[node.name];
  const [left, right] = [pathOf(node.left), pathOf(node.right)];
  if (operator === undefined || left === undefined || right === undefined) return;
  if (node.right.type === 'Field') add(right, 'compared', (text) => `${left} ${operator} ${text}`, found);
  else if (node.left.type === 'Field') add(left, 'compared', (text) => `${text} ${operator} ${right}`, found);
}

function pathOf(node: ExpressionNode): string | undefined {
  if (node.type === 'Field') return node.name;
  if (node.type !== 'Subexpression') return undefined;
  const [left, right] = [pathOf(node.left), pathOf(node.right)];
  return left === undefined || right === undefined ? undefined : `${left}.${right}`;
}

function collectValues(node: ExpressionNode, as: 'value' | 'fallback', found: BareName[]): void {
  switch (node.type) {
    case 'Field':
      add(node.name, as, (text) => text, found);
      return;
    case 'OrExpression':
      // The first alternative is a field: a text would always be the result.
      if (node.left.type !== 'Field') collectValues(node.left, 'fallback', found);
      collectValues(node.right, 'fallback', found);
      return;
    case 'AndExpression':
      collectValues(node.right, 'fallback', found);
      return;
    case 'Ternary':
      collectValues(node.trueExpr, 'fallback', found);
      collectValues(node.falseExpr, 'fallback', found);
  }
}

function add(name: string, as: BareName['as'], write: (text: string) => string, found: BareName[]): void {
  found.push({ name, as, written: write(name), quoted: write(textOf(name)) });
}

function textOf(name: string): string {
  return LITERALS.includes(name) ? `\`${name}\`` : `'${name.replace(/['\\]/g, '\\$&')}'`;
}
