import { type ExpressionNode, type Signature, signatureOf } from './jmespath.ts';

/** Levels of nesting in an expression. Deeper ones could exhaust the stack while an answer is mapped. */
const MAX_DEPTH = 100;

/** The mistake of an expression that nests deeper than {@link MAX_DEPTH}, or than the parser can follow. */
export const TOO_DEEP = 'is nested too deep';

type NodeOf<Type extends ExpressionNode['type']> = Extract<ExpressionNode, { readonly type: Type }>;

/**
 * What is wrong with an expression although it parses, in plain words; undefined if nothing is. What is found here would
 * else fail, or mean something else than its author thinks, each time that an answer is mapped.
 */
export function mistakeIn(node: ExpressionNode, depth = 0): string | undefined {
  if (depth > MAX_DEPTH) return TOO_DEEP;
  const mistake = ownMistake(node);
  if (mistake !== undefined) return mistake;
  for (const child of childrenOf(node)) {
    const deeper = mistakeIn(child, depth + 1);
    if (deeper !== undefined) return deeper;
  }
  return undefined;
}

function ownMistake(node: ExpressionNode): string | undefined {
  switch (node.type) {
    case 'Function':
      return callMistake(node);
    case 'Index':
      return Number.isSafeInteger(node.value) ? undefined : 'has an index that is no whole number';
    case 'Slice':
      return node.step === 0 ? 'has a slice with step 0' : undefined;
    case 'ExpressionReference':
      return 'has & where no function takes an expression';
    case 'Binding':
      return 'has a single =; to compare, write ==';
    case 'LetExpression':
    case 'Variable':
      // The library loses variables inside functions, and inner ones whose value is false.
      return 'has a variable, which is not supported; $ stands for the whole value';
    default:
      return undefined;
  }
}

function callMistake({ name, children }: NodeOf<'Function'>): string | undefined {
  const signature = signatureOf(name);
  if (signature === undefined) return `calls ${name}(), which is no JMESPath function`;
  const { leastArguments, mostArguments } = signature;
  if (children.length < leastArguments || children.length > mostArguments) {
    return `calls ${name}(), which takes ${range(signature)}, with ${children.length}`;
  }
  // The library takes any object with a field `expref` for a reference: an upstream could send expressions to evaluate.
  const wrong = children.findIndex(
    (child, position) => (child.type === 'ExpressionReference') !== signature.takesReference(position),
  );
  if (wrong < 0) return undefined;
  const wanted = signature.takesReference(wrong)
    ? 'must be an expression with & before it'
    : 'must have no & before it';
  return `calls ${name}(), whose argument ${wrong + 1} ${wanted}`;
}

function range({ leastArguments, mostArguments }: Signature): string {
  if (leastArguments === mostArguments) return leastArguments === 1 ? '1 argument' : `${leastArguments} arguments`;
  const most = mostArguments === Number.POSITIVE_INFINITY ? 'or more' : `to ${mostArguments}`;
  return `${leastArguments} ${most} arguments`;
}

function childrenOf(node: ExpressionNode): readonly ExpressionNode[] {
  switch (node.type) {
    case 'Literal':
      return [];
    case 'Function':
      return node.children.map((child) => (child.type === 'ExpressionReference' ? child.child : child));
    default:
      return Object.values(node)
        .flat()
        .filter((part) => typeof part === 'object' && part !== null);
  }
}
