import type { Shape } from './shape.ts';

/** Returns the JMESPath expression that selects the member at `path`. */
export function expressionOf(path: readonly string[]): string {
  if (path.length === 0) return '@';
  return path.map((key) => (/^[A-Za-z_]\w*$/.test(key) ? key : JSON.stringify(key))).join('.');
}

/** Returns a name without case and separators: `created_at` becomes `createdat`. */
export function plainName(name = ''): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** A member of a body outside its lists. */
export interface Member {
  /** Keys that lead to it. */
  readonly path: readonly string[];
  readonly shape: Shape;
}

const MAX_DEPTH = 4;
const MAX_MEMBERS = 2000;

/** Returns the members of a body outside its lists, those nearest to the top first. */
export function membersOf(body: Shape): Member[] {
  const members: Member[] = [{ path: [], shape: body }];
  for (const { path, shape } of members) {
    if (path.length === MAX_DEPTH) continue;
    for (const [key, member] of shape.members) {
      if (members.length > MAX_MEMBERS) return members;
      members.push({ path: [...path, key], shape: member });
    }
  }
  return members.slice(1);
}
