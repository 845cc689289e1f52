// Imports nothing, and says nothing that Node 14 cannot read: whoever has too old a Node gets a sentence instead of what
// the first module that it cannot read makes of it.

/** The oldest Node that runs Portico, as `engines` in package.json has it. */
const OLDEST = [22, 20] as const;

/** What is wrong with a version of Node, such as `22.19.0`; undefined if nothing is. */
export function nodeIssue(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isTooOld = major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
  return isTooOld ? `needs Node ${OLDEST.join('.')} or newer, and this is ${version}` : undefined;
}

/** Throws where this Node is too old. The error is its one line: where in Portico it was found tells nobody anything. */
export function refuseOldNode(): void {
  const issue = nodeIssue(process.versions.node);
  if (issue === undefined) return;
  const error = new Error(`portico ${issue}`);
  error.stack = `${error.name}: ${error.message}`;
  throw error;
}
