import { compile, TreeInterpreter, TYPE_EXPREF } from '@jmespath-community/jmespath';
import { createFunctions } from './functions/functions.ts';
import { fieldOf } from './json-value.ts';

/** One node of a parsed expression. */
export type ExpressionNode = ReturnType<typeof compile>;

/** How a function may be called. */
export interface Signature {
  readonly leastArguments: number;
  /** Infinity where there is no bound. */
  readonly mostArguments: number;
  /** Whether the argument at a position, from 0, is an expression reference (`&name`). */
  takesReference(position: number): boolean;
}

type Interpreter = typeof TreeInterpreter;
type Json = Parameters<Interpreter['search']>[1];

/**
 * The library's interpreter, mended. It is our own instance: the one that the library exports belongs to the whole
 * process, and other code in it may rely on how it is.
 */
const interpreter = new (TreeInterpreter.constructor as new () => Interpreter)();
const { runtime } = interpreter;

// The library reads fields through the prototype chain, so that `toString` finds a function in any object.
const visit = interpreter.visit.bind(interpreter);
interpreter.visit = (node, value) => (node.type === 'Field' ? (fieldOf(value, node.name) as Json) : visit(node, value));

const mended = createFunctions((reference, value) => interpreter.visit(reference as ExpressionNode, value as Json));
for (const [name, call] of Object.entries(mended)) {
  const signature = runtime._functionTable[name]?._signature ?? [];
  runtime.registerFunction(name, (given) => call(...given) as Json, signature, { override: true });
}

/** Parses an expression. Throws the library's own error where it cannot. */
export const parse: (text: string) => ExpressionNode = compile;

/** Evaluates a parsed expression; `$` in it is `value`. Throws what the library throws. */
export function interpret(node: ExpressionNode, value: unknown): unknown {
  return interpreter.search(node, value as Json);
}

/** The signature of a function, or undefined where there is no function of this name. */
export function signatureOf(name: string): Signature | undefined {
  if (!Object.hasOwn(runtime._functionTable, name)) return undefined;
  const parameters = runtime._functionTable[name]?._signature ?? [];
  return {
    leastArguments: parameters.filter((parameter) => !parameter.optional).length,
    mostArguments: parameters.at(-1)?.variadic ? Number.POSITIVE_INFINITY : parameters.length,
    takesReference: (position) => parameters[position]?.types.includes(TYPE_EXPREF) ?? false,
  };
}
