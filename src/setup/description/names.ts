/** The JMESPath expression that finds what stands at `path`. */
export function expressionOf(path: readonly string[]): string {
  if (path.length === 0) return '@';
  return path.map((key) => (/^[A-Za-z_]\w*$/.test(key) ? key : JSON.stringify(key))).join('.');
}

/** A name without its case and its separators: `created_at` is `createdat`. */
export function plainName(name = ''): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}
