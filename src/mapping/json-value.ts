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

/**
 * Whether a computed number may stand for what an upstream wrote: finite, and not so large that neighbouring
 * integers are one and the same. Beyond that an id could silently become another one's.
 */
export function isExact(value: number): boolean {
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}
