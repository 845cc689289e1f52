/** A path as people write it: `http.allowedHosts[0]`, `upstreams.projects.headers["X.Y"]`. */
export function dottedPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    const key = String(step);
    if (!/^[\w$-]+$/.test(key)) return `${text}[${JSON.stringify(key)}]`;
    return text === '' ? key : `${text}.${key}`;
  }, '');
}
