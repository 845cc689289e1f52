import { compile, TreeInterpreter } from '@jmespath-community/jmespath';
import { GatewayError } from '../../kernel/errors.ts';
import { FUNCTIONS } from './functions.ts';

/** One node of a parsed expression. */
export type ExpressionNode = ReturnType<typeof compile>;

/** How many arguments a function takes. */
export interface Arity {
  readonly least: number;
  /** Infinity where there is no bound. */
  readonly most: number;
}

type Interpreter = typeof TreeInterpreter;
type Json = Parameters<Interpreter['search']>[1];

/**
 * The library's interpreter, repaired. It is our own instance: the one that the library exports belongs to the whole
 * process, and other code in it may rely on how it is.
 */
const interpreter = new (TreeInterpreter.constructor as new () => Interpreter)();
const { runtime } = interpreter;

// The library reads fields through the prototype chain, so that `toString` finds a function in any object.
const visit = interpreter.visit.bind(interpreter);
interpreter.visit = (node, value) => (node.type === 'Field' ? (fieldOf(value, node.name) as Json) : visit(node, value));

for (const [name, call] of Object.entries(FUNCTIONS)) {
  if (call === null) continue;
  const signature = (runtime._functionTable[name]?._signature ?? []).slice(0, call.length);
  runtime.registerFunction(name, (given) => call(...(given as never[])) as Json, signature, { override: true });
}

// The library's own message cannot be told: it may show a value. Ours says which function, and of which types its values are.
const callFunction = runtime.callFunction.bind(runtime);
runtime.callFunction = (name, given) => {
  try {
    return callFunction(name, given);
  } catch (error) {
    if (error instanceof GatewayError || error instanceof RangeError) throw error;
    throw new GatewayError('upstream_invalid', { reason: `${name}() does not take (${given.map(typeOf).join(', ')})` });
  }
};

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (!Array.isArray(value)) return typeof value;
  const types = [...new Set(value.map((each) => (Array.isArray(each) ? 'array' : typeOf(each))))];
  return types.length === 0 ? 'empty array' : `array of ${types.join(' and ')}`;
}

/** Parses an expression. Throws the library's own error where it cannot. */
export const parse: (text: string) => ExpressionNode = compile;

/**
 * Evaluates a parsed expression; `$` in it is `value`. Throws `upstream_invalid` where a function does not take what it is
 * given, else what the library throws.
 */
export function interpret(node: ExpressionNode, value: unknown): unknown {
  return interpreter.search(node, value as Json);
}

/** Undefined for a function that expressions may not call. */
export function arityOf(name: string): Arity | undefined {
  if (!Object.hasOwn(FUNCTIONS, name)) return undefined;
  const parameters = runtime._functionTable[name]?._signature ?? [];
  return {
    least: parameters.filter((parameter) => !parameter.optional).length,
    most: parameters.at(-1)?.variadic ? Number.POSITIVE_INFINITY : parameters.length,
  };
}

/**
 * One field of a parsed JSON object; null where the object has none, or where `value` is no object.
 * Own properties only: `constructor`, `toString` and `__proto__` are fields when an upstream sent them, never else.
 */
export function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, name)
    ? ((value as Record<string, unknown>)[name] ?? null)
    : null;
}

/** Whether JMESPath takes a value for true: all but false, null, `''`, `[]` and `{}`. So 0 is true. */
export function isTruthy(value: unknown): boolean {
  if (typeof value !== 'object') return value !== false && value !== '';
  return value !== null && (Array.isArray(value) ? value : Object.keys(value)).length > 0;
}
