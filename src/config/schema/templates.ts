/** JSON as settings hold it. */
export type Json = string | number | boolean | null | undefined | readonly Json[] | { readonly [key: string]: Json };

/** Names in braces: `{tenant}`. Braces that make none are what is left of a path without them. */
const NAMED = /\{(\w+)\}/g;

/** The names that a path has in braces. */
export function namesIn(path: string): string[] {
  return [...path.matchAll(NAMED)].map(([, name = '']) => name);
}

/** Whether all braces of a path are around a name. */
export function hasSoundBraces(path: string): boolean {
  return !/[{}]/.test(path.replaceAll(NAMED, ''));
}

/** A path with values in place of its names, each as part of one segment, whatever it holds (RFC 3986, section 2.1). */
export function fillPath(path: string, values: Readonly<Record<string, string>>): string {
  return path.replaceAll(NAMED, (_braces, name: string) => encodeURIComponent(values[name] ?? ''));
}
