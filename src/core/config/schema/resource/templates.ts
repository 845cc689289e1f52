/** A value of a caller or of a parent, which is filled in for each request. */
const NAMED = /\{((?:claim|header)\.[^{}]+|parent(?:\.[\w-]+)+)\}/g;

/** The names that a path has in braces. */
export function namesIn(path: string): string[] {
  return [...path.matchAll(NAMED)].map(([, name = '']) => name);
}

/** Whether all braces of a path are around a name, and no segment is a name behind a colon. */
export function hasSoundBraces(path: string): boolean {
  return !/[{}]|\/:/.test(path.replaceAll(NAMED, ''));
}

/** Whether a path has no segment that is empty, as of a variable without a value, or that leads elsewhere. */
export function hasSoundSegments(path: string): boolean {
  return !/^\/(?:.*\/)?(?:\.{0,2}\/|\.{1,2}$)/.test(path.replaceAll(NAMED, 'name'));
}

/** A path with values in place of its names, each within one segment (RFC 3986, section 2.1). Other names stay. */
export function fillPath(path: string, values: Readonly<Record<string, string>>): string {
  return path.replaceAll(NAMED, (braces, name: string) => {
    const value = values[name];
    return value === undefined ? braces : encodeURIComponent(value);
  });
}

/** A text of a query with values in place of its names, which its encoding bounds. Other names stay. */
export function fillText(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(NAMED, (braces, name: string) => values[name] ?? braces);
}

/** Whether no number has lost digits. */
export function hasExactNumbers(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isInteger(value) || Number.isSafeInteger(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(hasExactNumbers);
}

interface Place {
  readonly holder: object;
  readonly key: string;
}

const NOWHERE = 'leads nowhere in body: write there what the first page is asked for with, or null';

/** Whether what pagination is sent as is a place in the body, and not a query parameter. */
export function isPointer(parameter: string): boolean {
  return parameter.startsWith('/');
}

/** Describes a wrong pointer (RFC 6901) into `body`; undefined for one that leads to a value. */
export function checkPointer(body: unknown, pointer: string): string | undefined {
  const place = findPlace(body, pointer);
  if (typeof place === 'string') return place;
  const value: unknown = Reflect.get(place.holder, place.key);
  return typeof value === 'object' && value !== null ? 'leads to a block or list of body, not to a value' : undefined;
}

/**
 * The body with `values` in the places of their pointers. A member at `tokenPointer` that is null then is left out: Notion and
 * others refuse null.
 */
export function fillBody(
  body: object,
  values: Readonly<Record<string, string | number>>,
  tokenPointer?: string,
): object {
  const filled = structuredClone(body);
  for (const [pointer, value] of Object.entries(values)) {
    const place = findPlace(filled, pointer);
    if (typeof place === 'string') throw new Error('the settings were not checked');
    Reflect.set(place.holder, place.key, value);
  }
  const token = tokenPointer === undefined ? '' : findPlace(filled, tokenPointer);
  if (typeof token === 'object' && !Array.isArray(token.holder) && Reflect.get(token.holder, token.key) === null)
    Reflect.deleteProperty(token.holder, token.key);
  return filled;
}

function findPlace(body: unknown, pointer: string): Place | string {
  if (/~(?![01])/.test(pointer)) return 'is no JSON pointer: write ~0 for ~, and ~1 for / in a name';
  const keys = pointer.split('/').map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
  let holder = body;
  for (const key of keys.slice(1, -1)) {
    if (!holds(holder, key)) return NOWHERE;
    holder = Reflect.get(holder, key);
  }
  const key = keys.at(-1) ?? '';
  return holds(holder, key) ? { holder, key } : NOWHERE;
}

function holds(value: unknown, key: string): value is object {
  if (Array.isArray(value)) return /^(?:0|[1-9]\d*)$/.test(key) && Number(key) < value.length;
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key);
}
