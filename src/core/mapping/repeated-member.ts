const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]]/g;

/**
 * Returns whether an object has a member twice that is on this way from the outermost value: `JSON.parse` takes the last, and
 * another parser the first. `json` must be valid.
 */
export function repeatsMember(json: string, way: readonly (string | number)[]): boolean {
  const end = way.findIndex((name) => typeof name !== 'string');
  const names = (end === -1 ? way : way.slice(0, end)) as readonly string[];
  // Most texts have the first name once.
  if (names.length === 0 || !names.some((name) => occursTwice(json, JSON.stringify(name)))) return false;
  const counts = names.map(() => 0);
  let depth = 0;
  /** Names of the way that enclose the place; the next is a member of the object at this depth. */
  let entered = 0;
  for (const { 0: token, index } of json.matchAll(TOKEN)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') {
      depth -= 1;
      if (depth <= entered) entered = Math.max(0, depth - 1);
    } else if (depth === entered + 1 && isKey(json, index + token.length) && JSON.parse(token) === names[entered]) {
      counts[entered] = (counts[entered] ?? 0) + 1;
      if (counts[entered] === 2) return true;
      if (entered + 1 < names.length && json.slice(index + token.length).match(/^\s*:\s*\{/)) entered += 1;
    }
  }
  return false;
}

function occursTwice(json: string, name: string): boolean {
  const first = json.indexOf(name);
  return first !== -1 && json.indexOf(name, first + 1) !== -1;
}

function isKey(json: string, end: number): boolean {
  let at = end;
  while (/\s/.test(json.charAt(at))) at += 1;
  return json.charAt(at) === ':';
}
