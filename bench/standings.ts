import { percent, table } from './report.ts';
import type { Standing } from './turns.ts';

const HEAD = [
  'Server',
  'Requests a second',
  'p99',
  'Had of its core',
  'Processor time a request',
  'Longest GC pause',
  'GC of the time',
  'Portico has',
  'by processor time',
];

/** Below this share of its core, a server was held up by something else. */
const UNDISTURBED = 0.9;

const WARNING =
  '\nA server did not have its core to itself, or wrk did not: only processor time can be compared here.\n';

/** Compares the first one with each of the others. */
export function standings(all: readonly Standing[]): string {
  const [first] = all;
  const rows = all.map((standing) => {
    const { name, requestsPerSecond, p99Ms, busy, usPerRequest, gcLongestMs, gcShare } = standing;
    const ratios =
      first === undefined || standing === first
        ? ['', '']
        : [ratio(first.requestsPerSecond, requestsPerSecond), ratio(usPerRequest, first.usPerRequest)];
    const figures = [requestsPerSecond.toFixed(0), `${p99Ms.toFixed(1)} ms`, percent(busy)];
    const gc = Number.isNaN(gcShare) ? ['', ''] : [`${gcLongestMs.toFixed(1)} ms`, percent(gcShare)];
    return [name, ...figures, `${usPerRequest.toFixed(0)} µs`, ...gc, ...ratios];
  });
  return table(HEAD, rows) + (all.every(({ busy }) => busy >= UNDISTURBED) ? '' : WARNING);
}

function ratio(share: number, whole: number): string {
  return `${(share / whole).toFixed(2)} of it`;
}
