import { toNumber, toText } from './convert.ts';
import { createOrdering, type EvaluateReference } from './order.ts';
import { join, padLeft, padRight, replace, trim, trimLeft, trimRight } from './text.ts';

type JmespathFunction = (...given: unknown[]) => unknown;

/**
 * The JMESPath functions that take the place of the library's. Argument types are checked by then.
 * An upstream controls the texts that they work on, so each is linear (sorting: n log n) and none makes a text
 * much longer than what it was given; and where the library's result is wrong by the specification, these are right.
 */
export function createFunctions(evaluate: EvaluateReference): Readonly<Record<string, JmespathFunction>> {
  return {
    ...createOrdering(evaluate),
    trim,
    trim_left: trimLeft,
    trim_right: trimRight,
    pad_left: padLeft,
    pad_right: padRight,
    replace,
    join,
    to_string: toText,
    to_number: toNumber,
  } as Record<string, JmespathFunction>;
}
