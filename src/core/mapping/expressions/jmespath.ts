import { compile, registerFunction, TreeInterpreter, TYPE_ANY } from '@jmespath-community/jmespath';
import { GatewayError } from '../../kernel/errors.ts';
import { FUNCTIONS, type Type } from './functions.ts';

export type ExpressionNode = ReturnType<typeof compile>;

type Json = Parameters<typeof TreeInterpreter.search>[1];

/** Parses an expression. Throws the library's error. */
export const parse: (text: string) => ExpressionNode = compile;

// The library's registry is shared by the process: in it, these have names that no expression can write.
const registered = (name: string) => `portico ${name}`;
const FIELD = registered('.');
const ANY = { types: [TYPE_ANY] };

// The library reads fields through the prototype chain, so that `toString` finds a function in every object.
registerFunction(FIELD, ([value, name]) => fieldOf(value, String(name)) as Json, [ANY, ANY]);
for (const [name, { takes, call }] of Object.entries(FUNCTIONS)) {
  const callChecked = (given: readonly unknown[]) => {
    const fits = given.every((value, index) => (takes[index] ?? ['any']).some((type) => isOf(type, value)));
    if (fits) return call(...(given as never[])) as Json;
    // The library's message may contain a value.
    throw new GatewayError('upstream_invalid', { reason: `${name}() does not take (${given.map(typeOf).join(', ')})` });
  };
  registerFunction(registered(name), callChecked, [{ ...ANY, variadic: true }]);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function isOf(type: Type, value: unknown): boolean {
  if (type === 'strings' || type === 'numbers') {
    return Array.isArray(value) && value.every((each) => `${typeof each}s` === type);
  }
  return type === 'any' || typeOf(value) === type;
}

/** Compiles any expression that {@link checkExpression} accepts, for evaluation by the library. */
export function compileInterpreted(node: ExpressionNode): Evaluate {
  const own = withOwnFunctions(node);
  return (value) => TreeInterpreter.search(own, value as Json);
}

/** Replaces fields and functions with those registered above. */
function withOwnFunctions(node: ExpressionNode): ExpressionNode {
  if (node.type === 'Literal') return node;
  if (node.type === 'Field') {
    return { type: 'Function', name: FIELD, children: [{ type: 'Current' }, { type: 'Literal', value: node.name }] };
  }
  const replaced = Object.entries(node).map(([key, part]: [string, unknown]) => {
    if (Array.isArray(part)) return [key, part.map(withOwnFunctions)];
    return [key, typeof part === 'object' && part !== null ? withOwnFunctions(part as ExpressionNode) : part];
  });
  return { ...Object.fromEntries(replaced), ...(node.type === 'Function' && { name: registered(node.name) }) };
}

/** An own property of a parsed JSON object, or null: `constructor` is a field only if an upstream sent it. */
export function fieldOf(value: unknown, name: string): unknown {
  return Object.hasOwn(Object(value), name) ? memberOf(value, name) : null;
}

/** The same for a name that objects do not inherit: takes 4 % of the instructions of a read of a new list less. */
function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return (value as Record<string, unknown>)[name] ?? null;
}

/** All but false, null, `''`, `[]` and `{}`. 0 is true. */
export function isTruthy(value: unknown): boolean {
  if (typeof value !== 'object') return value !== false && value !== '';
  return value !== null && (Array.isArray(value) ? value : Object.keys(value)).length > 0;
}

/** Evaluates one expression over a parsed JSON value. */
export type Evaluate = (value: unknown) => unknown;

/**
 * Compiles a *direct* expression (fields, indexes, `@`, literals, joined by `.`, `|`, `||`, `&&`, `!`) to property access;
 * undefined for others. It never distinguishes a number from a non-empty text, so it finds the same place on a page whose
 * numbers are texts: that is how a number gets its source text.
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
      const read = name in Object.prototype ? fieldOf : memberOf;
      return (value) => read(value, name);
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
