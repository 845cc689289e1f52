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

/** Whether a value is an object of JSON, and no list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The JMESPath expression that finds what stands at `path`. */
export function expressionOf(path: readonly string[]): string {
  if (path.length === 0) return '@';
  return path.map((key) => (/^[A-Za-z_]\w*$/.test(key) ? key : JSON.stringify(key))).join('.');
}

/** A key without its case and its separators: `next_page-Token` is `nextpagetoken`. */
export function plainKey(key: string | undefined): string {
  return (key ?? '').toLowerCase().replace(/[^a-z0-9]/g, '');
}
