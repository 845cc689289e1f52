import { childrenOf } from '../core/mapping/expressions/expression-issue.ts';
import { type ExpressionNode, parse } from '../core/mapping/expressions/jmespath.ts';

/** Names of JSON that have no meaning in JMESPath. */
const LITERALS: readonly string[] = ['true', 'false', 'null'];

/** No platform has fields of these names. */
const NO_FIELDS: ReadonlySet<string> = new Set([
  ...[...LITERALS, 'none', 'other', 'others', 'unknown', 'undefined', 'unspecified', 'uncategorized'],
  ...['uncategorised', 'misc', 'miscellaneous', 'untitled', 'unnamed'],
]);

const CAPITALS = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/;

const OPERATORS: Readonly<Record<string, string>> = { EQ: '==', NE: '!=' };

/** Warns of two fields that are compared, or subtracted or divided: one of them is probably a text, or both a name; and of `!a.b`. */
export function operatorWarnings(expression: string): string[] {
  return warningsIn(parse(expression));
}

function warningsIn(node: ExpressionNode): string[] {
  // `!` is applied before the dot.
  const isNull = node.type === 'Subexpression' && node.left.type === 'NotExpression';
  const ofNull = isNull ? '!a.b is (!a).b, which is always null: write !(a.b)' : undefined;
  const own = node.type === 'Comparator' || node.type === 'Arithmetic' ? warningOf(node) : ofNull;
  return [...(own === undefined ? [] : [own]), ...childrenOf(node).flatMap(warningsIn)];
}

function warningOf(node: Extract<ExpressionNode, { type: 'Comparator' | 'Arithmetic' }>): string | undefined {
  const { left, right } = node;
  const [one, other] = [pathOf(left), pathOf(right)];
  if (one === undefined || other === undefined) return undefined;
  if (node.type === 'Comparator') {
    const operator = OPERATORS[node.name];
    if (operator === undefined || (left.type !== 'Field' && right.type !== 'Field')) return undefined;
    const [name, quoted] =
      right.type === 'Field'
        ? [other, `${one} ${operator} ${textOf(other)}`]
        : [one, `${textOf(one)} ${operator} ${other}`];
    return `${one} ${operator} ${other} compares two fields, not a field with the value ${name}: ${cureFor(name, quoted)}`;
  }
  if (node.operator === 'Minus') {
    const last = one.lastIndexOf('.') + 1;
    const quoted = `${one.slice(0, last)}"${one.slice(last)}-${other}"`;
    return `${one}-${other} subtracts two fields: write '${quoted}', with all quotes, for the field of this name`;
  }
  if (node.operator !== 'Divide') return undefined;
  return `${one}/${other} divides two fields: write ${one}.${other} for a field of ${one}`;
}

/** Warns of names in place of a value that look like a text. `isKind`: the field distinguishes kinds of items, in words of the platform. */
export function valueWarnings(expression: string, field: string, isKind: boolean): string[] {
  const root = parse(expression);
  return valuesOf(root)
    .filter((name) => name !== field && (NO_FIELDS.has(name.toLowerCase()) || (isKind && CAPITALS.test(name))))
    .map((name) => {
      // Alone, a text needs quotes of YAML around its own.
      const quoted = root.type === 'Field' ? `${field}: "${textOf(name)}"` : textOf(name);
      return `${name} is a field name here, not the value ${name}: ${cureFor(name, quoted)}`;
    });
}

function cureFor(name: string, quoted: string): string {
  return `write ${quoted} for the value, or @.${name} for the field`;
}

function pathOf(node: ExpressionNode): string | undefined {
  if (node.type === 'Field') return node.name;
  if (node.type !== 'Subexpression') return undefined;
  const [left, right] = [pathOf(node.left), pathOf(node.right)];
  return left === undefined || right === undefined ? undefined : `${left}.${right}`;
}

/** Returns the bare names that can be the result. */
function valuesOf(node: ExpressionNode): string[] {
  switch (node.type) {
    case 'Field':
      return [node.name];
    case 'OrExpression':
      // The first alternative is a field: a text would always be the result.
      return [...(node.left.type === 'Field' ? [] : valuesOf(node.left)), ...valuesOf(node.right)];
    case 'AndExpression':
      return valuesOf(node.right);
    case 'Ternary':
      return [...valuesOf(node.trueExpr), ...valuesOf(node.falseExpr)];
    default:
      return [];
  }
}

function textOf(name: string): string {
  return LITERALS.includes(name) ? `\`${name}\`` : `'${name.replace(/['\\]/g, '\\$&')}'`;
}
