import type { FaultRow } from '../e2e/reading/fault-matrix.ts';

const HEAD = `| The platform | Answer | Requests | Breaker | Connection | Stale list |
|---|---|---|---|---|---|`;

/** The fault matrix as a table of Markdown, with a row above each kind of fault. */
export function faultTables(faults: Readonly<Record<string, readonly FaultRow[]>>): string {
  return [
    HEAD,
    ...Object.entries(faults).flatMap(([title, rows]) => [`| **${title}** | | | | | |`, ...rows.map(lineOf)]),
  ].join('\n');
}

function lineOf([what, , [answer, ...outcome]]: FaultRow): string {
  return `| ${[what, marked(answer), ...outcome].join(' | ').replace('| not counted |', '| – |')} |`;
}

/** Codes, settings and headers set as code. */
function marked(answer: string): string {
  return answer.replace(/Retry-After (\d+)/, '`Retry-After: $1`').replace(/\b([a-z]+_[a-z_]+|timeoutMs)\b/g, '`$1`');
}
