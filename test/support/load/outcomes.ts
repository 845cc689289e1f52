import { CAUSED } from './judge.ts';
import { FAULT_NAMES } from './misbehaviour.ts';
import type { Load } from './run-load.ts';
import type { Scene } from './scene.ts';

/** What callers must have met for a load to have shown anything. */
const OUTCOMES = ['ok', 'not_modified', 'left', ...CAUSED];

/** How many requests ended in which way: in an outcome, or `left`, or `closed`. */
export function countOutcomes({ fates }: Load): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const fate of fates.values()) {
    const word = fate.kind === 'answered' ? fate.outcome : fate.kind;
    counts[word] = (counts[word] ?? 0) + 1;
  }
  return counts;
}

/** What has not come about yet, of all faults and of all that they lead to. */
export function unmet(counts: Readonly<Record<string, number>>, scene: Scene): readonly string[] {
  const met = { ...scene.faults(), ...counts };
  return [...FAULT_NAMES, 'refused', ...OUTCOMES].filter((word) => met[word] === undefined);
}

/** Differences between the log and the callers. A request whose caller disconnected may have been answered. */
export function disagreements({ fates }: Load, lines: readonly LogLine[]): readonly string[] {
  const access = accessLines(lines);
  return [...fates].flatMap(([id, fate]) => {
    const logged = access.get(id)?.outcome;
    if (fate.kind === 'left') return [];
    const seen = fate.kind === 'answered' ? fate.outcome : undefined;
    return logged === seen ? [] : [`${id}: ${seen ?? 'closed'}, and in the log ${logged}`];
  });
}

/** One line of the process's log, as far as a load looks at it. */
export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly requestId?: string;
  readonly outcome?: string;
}

/** The access lines, by request id. Throws where a request has two. */
function accessLines(lines: readonly LogLine[]) {
  const found = new Map<string, LogLine>();
  for (const line of lines) {
    if (line.msg !== 'request' || line.requestId === undefined) continue;
    if (found.has(line.requestId)) throw new Error(`two access lines for ${line.requestId}`);
    found.set(line.requestId, line);
  }
  return found;
}
