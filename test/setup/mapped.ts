import { compileExpression } from '../../src/core/mapping/expressions/expression.ts';

/** Evaluates an expression over an item, as reads do. */
export function mapperFor(expression: string): (item: unknown) => unknown {
  const { evaluate } = compileExpression(expression);
  return (item) => evaluate(item);
}
