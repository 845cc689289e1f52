/**
 * For each object and list of a parsed JSON text, the one that stands at the same place of another text of the same
 * structure. Keeps its own stack: an upstream's answer may nest deeper than the call stack reaches.
 */
export function twinsOf(value: unknown, other: unknown): ReadonlyMap<unknown, unknown> {
  const twins = new Map<unknown, unknown>();
  const open: (readonly [unknown, unknown])[] = [[value, other]];
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const [left, right] = pair;
    if (typeof left !== 'object' || left === null) continue;
    twins.set(left, right);
    const rights = Object.values(right as object);
    for (const [index, part] of Object.values(left).entries()) open.push([part, rights[index]]);
  }
  return twins;
}
