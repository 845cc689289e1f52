// Imports nothing and uses only syntax of Node 14, so that a Node that is too old prints a sentence instead of a syntax
// error.

/** Oldest supported Node, as in `engines` of package.json. */
const OLDEST = [22, 20] as const;

/** Returns what is wrong with a Node version such as `22.19.0`; undefined if it is supported. */
export function nodeIssue(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isTooOld = major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
  return isTooOld ? `needs Node ${OLDEST.join('.')} or newer, and this is ${version}` : undefined;
}

/** Throws if this Node is too old. The error has one line: its stack would not help. */
export function refuseOldNode(): void {
  const issue = nodeIssue(process.versions.node);
  if (issue === undefined) return;
  const error = new Error(`portico ${issue}`);
  error.stack = `${error.name}: ${error.message}`;
  throw error;
}
