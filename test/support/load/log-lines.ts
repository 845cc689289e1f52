/** One line of the process's log, as far as a load looks at it. */
export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly requestId?: string;
  readonly outcome?: string;
}

export function readLog(stdout: string): readonly LogLine[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** The access lines, by request id. Throws where a request has two. */
export function accessLines(lines: readonly LogLine[]): ReadonlyMap<string, LogLine> {
  const found = new Map<string, LogLine>();
  for (const line of lines) {
    if (line.msg !== 'request' || line.requestId === undefined) continue;
    if (found.has(line.requestId)) throw new Error(`two access lines for ${line.requestId}`);
    found.set(line.requestId, line);
  }
  return found;
}
