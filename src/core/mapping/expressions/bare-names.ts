import { childrenOf } from './expression-issue.ts';
import { type ExpressionNode, parse } from './jmespath.ts';

/** A name without quotes of its own, which an expression reads as a field, where a text may have been meant. */
export interface BareName {
  readonly name: string;
  /**
   * `compared` with another field, `argument` of a function where a text mostly stands, or the `value` of the expression:
   * all of it, or, as `fallback`, what it gives in place of another.
   */
  readonly as: 'compared' | 'argument' | 'value' | 'fallback';
  /** The part of the expression that it stands in, and the same with the name as a text. */
  readonly written: string;
  readonly quoted: string;
}

/** What is seldom meant as arithmetic: `display-name`, which subtracts, and `data/list`, which divides. */
export interface JoinedNames {
  readonly written: string;
  readonly operator: '-' | '/';
  /** The field that is meant, as an expression. */
  readonly meant: string;
}

const QUOTED = /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`/gs;
const JOINED = /[a-z_]\w*(?:-[a-z_]\w*)+|[a-z_]\w*(?:\/[a-z_]\w*)+/gi;

/** The names of an expression that parses which `-` or `/` joins without a space. */
export function joinedNamesOf(expression: string): JoinedNames[] {
  const bare = expression.replace(QUOTED, '``');
  return (bare.match(JOINED) ?? []).map((written) =>
    written.includes('-')
      ? { written, operator: '-', meant: `"${written}"` }
      : { written, operator: '/', meant: written.replaceAll('/', '.') },
  );
}

/** Names that JMESPath has no other meaning for, and JSON has. */
const LITERALS: readonly string[] = ['true', 'false', 'null'];

/** Where functions take what they look for, or put in. */
const TEXT_ARGUMENTS: Readonly<Record<string, readonly number[]>> = {
  contains: [1],
  ends_with: [1],
  join: [0],
  replace: [1, 2],
  split: [1],
  starts_with: [1],
};

const OPERATORS: Readonly<Record<string, string>> = { EQ: '==', NE: '!=' };

/** The bare names of an expression that parses. `@.name` is a field for certain, and not among them. */
export function bareNamesOf(expression: string): BareName[] {
  const found: BareName[] = [];
  const root = parse(expression);
  collect(root, found);
  collectValues(root, 'value', found);
  return found;
}

function collect(node: ExpressionNode, found: BareName[]): void {
  if (node.type === 'Comparator') addCompared(node, found);
  if (node.type === 'Function') {
    for (const index of TEXT_ARGUMENTS[node.name] ?? []) {
      const argument = node.children[index];
      if (argument?.type === 'Field') add(argument.name, 'argument', (text) => `${node.name}(… ${text} …)`, found);
    }
  }
  for (const child of childrenOf(node)) collect(child, found);
}

/** Two fields are seldom compared, so that one is taken for a text: the right one, where it is a name alone. */
function addCompared(node: Extract<ExpressionNode, { type: 'Comparator' }>, found: BareName[]): void {
  const operator = OPERATORS[node.name];
  const [left, right] = [pathOf(node.left), pathOf(node.right)];
  if (operator === undefined || left === undefined || right === undefined) return;
  if (node.right.type === 'Field') add(right, 'compared', (text) => `${left} ${operator} ${text}`, found);
  else if (node.left.type === 'Field') add(left, 'compared', (text) => `${text} ${operator} ${right}`, found);
}

/** `a.b` of fields alone, as it may be written. */
function pathOf(node: ExpressionNode): string | undefined {
  if (node.type === 'Field') return node.name;
  if (node.type !== 'Subexpression') return undefined;
  const [left, right] = [pathOf(node.left), pathOf(node.right)];
  return left === undefined || right === undefined ? undefined : `${left}.${right}`;
}

/** What the expression may give. */
function collectValues(node: ExpressionNode, as: 'value' | 'fallback', found: BareName[]): void {
  switch (node.type) {
    case 'Field':
      add(node.name, as, (text) => text, found);
      return;
    case 'OrExpression':
      // What is tried first is a field: a text would always be given.
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

/** A text as JMESPath writes it: in single quotes, a backslash ahead of those in it. */
function textOf(name: string): string {
  return LITERALS.includes(name) ? `\`${name}\`` : `'${name.replace(/['\\]/g, '\\$&')}'`;
}
