import { FUNCTIONS } from './functions.ts';
import { type ExpressionNode, parse } from './jmespath.ts';

/** Deeper expressions could exhaust the stack during mapping. */
const MAX_DEPTH = 100;

const TOO_DEEP = 'is nested too deep';

type NodeOf<Type extends ExpressionNode['type']> = Extract<ExpressionNode, { readonly type: Type }>;

/** The issue, in words that follow the name of the expression; undefined if it is valid. */
export function checkExpression(text: string): string | undefined {
  try {
    return issueOf(parse(text));
  } catch (error) {
    if (error instanceof RangeError) return TOO_DEEP;
    const { message } = error as Error;
    const hint = /value: (?:and|or)$/.test(message) ? '; and is written &&, or is written ||' : '';
    return `is not a JMESPath expression: ${message}${hint}`;
  }
}

/** Checks as {@link checkExpression} does, for an expression that must select something. */
export function checkSelection(text: string): string | undefined {
  const issue = checkExpression(text);
  if (issue !== undefined || !isConstant(parse(text))) return issue;
  return 'names no field, so it is the same for every reply: quotes and backticks turn a name into text';
}

/** Returns the issue of an expression that parses, but would fail or mean something else on every page. */
function issueOf(node: ExpressionNode, depth = 0): string | undefined {
  if (depth > MAX_DEPTH) return TOO_DEEP;
  const issue = ownIssue(node);
  if (issue !== undefined) return issue;
  for (const child of childrenOf(node)) {
    const deeper = issueOf(child, depth + 1);
    if (deeper !== undefined) return deeper;
  }
  return undefined;
}

function ownIssue(node: ExpressionNode): string | undefined {
  switch (node.type) {
    case 'Function':
      return callIssue(node);
    case 'Index':
      return Number.isSafeInteger(node.value) ? undefined : 'has an index that is not a whole number';
    case 'Slice':
      return node.step === 0 ? 'has a slice with step 0' : undefined;
    case 'ExpressionReference':
      return 'has &, which no function accepts';
    case 'Binding':
      return 'has a single =; to compare, write ==';
    case 'LetExpression':
    case 'Variable':
      // The library loses variables inside functions, and inner ones whose value is false.
      return 'has a variable, which is not supported; $ is the whole value';
    default:
      return undefined;
  }
}

function callIssue({ name, children: { length } }: NodeOf<'Function'>): string | undefined {
  const called = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
  if (called === undefined) return `calls ${name}(); expressions may call ${Object.keys(FUNCTIONS).join(', ')}`;
  const { takes, isVariadic } = called;
  if (length === takes.length || (isVariadic && length > takes.length)) return undefined;
  return `calls ${name}() with ${length} ${length === 1 ? 'argument' : 'arguments'}`;
}

/** Whether an expression selects nothing of its input. */
function isConstant(node: ExpressionNode): boolean {
  return !SELECTING.has(node.type) && childrenOf(node).every(isConstant);
}

const SELECTING: ReadonlySet<ExpressionNode['type']> = new Set([
  ...(['Current', 'Field', 'Identity', 'Index', 'Root', 'Slice'] as const),
]);

export function childrenOf(node: ExpressionNode): readonly ExpressionNode[] {
  if (node.type === 'Literal') return [];
  return Object.values(node)
    .flat()
    .filter((part) => typeof part === 'object' && part !== null);
}
