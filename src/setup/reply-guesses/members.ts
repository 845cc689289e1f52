import { isObject } from '../description/shape.ts';

/** A member of a JSON body that stands in no list. */
export interface Member {
  /** The keys that lead to it; empty for the body itself. */
  readonly path: readonly string[];
  readonly value: unknown;
}

const MAX_DEPTH = 5;
/** A body with more of them beside its list is no page of a list. */
const MAX_MEMBERS = 2000;

/** The body, and all that stands in its objects: the nearest to the top first. Does not look into lists. */
export function membersOf(body: unknown): Member[] {
  const members: Member[] = [{ path: [], value: body }];
  for (const { path, value } of members) {
    if (!isObject(value) || path.length === MAX_DEPTH) continue;
    for (const [key, child] of Object.entries(value)) {
      if (members.length === MAX_MEMBERS) return members;
      members.push({ path: [...path, key], value: child });
    }
  }
  return members;
}
