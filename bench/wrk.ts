import { CLIENT_CORE } from './cores.ts';
import { ours } from './server.ts';
import type { Workshop } from './workshop.ts';

/** What is sent, over and over. */
export interface Load {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What is posted. @default nothing: it is a `GET` */
  readonly body?: string;
  /** Callers who take turns. @default 1000 */
  readonly callers?: number;
  /** File with a token for each of them, one a line. @default those of `tokenOf` */
  readonly tokens?: string;
  /** Requests at once. @default 32 */
  readonly connections?: number;
}

/** What one run of wrk saw. */
interface Throughput {
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
}

/** Callers whose tokens the servers are warmed up with. */
export const CALLERS = 1000;

/** wrk itself counts whole seconds; it is interrupted earlier, and reports what it saw until then. */
const LONGEST = '1h';

const MS = { us: 0.001, ms: 1, s: 1000, m: 60_000 };

/** The token of a caller, counted from 1, as `callers.lua` sends it. */
export function tokenOf(caller: number): string {
  return `bench-${caller}`;
}

/** How often a turn is repeated in which no request was answered, as on a machine that was busy with something else. */
const ATTEMPTS = 3;

/** Loads a server for a while. An answer of 400 or above, and a connection that fails, is an error. */
export async function measure(workshop: Workshop, seconds: number, load: Load): Promise<Throughput> {
  let text = '';
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    text = await runWrk(workshop, seconds, load);
    const requests = Number(/(\d+) requests in/.exec(text)?.[1]);
    const rate = Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]);
    const [, p99 = '', unit = ''] = /99%\s+([\d.]+)(us|ms|s|m)/.exec(text) ?? [];
    if (/Non-2xx|Socket errors/.test(text)) break;
    const p99Ms = Number(p99) * (MS[unit as keyof typeof MS] ?? Number.NaN);
    if (rate > 0) return { requests, requestsPerSecond: rate, p99Ms };
  }
  throw new Error(`wrk at ${load.url}:\n${text}`);
}

/** Returns what wrk printed. */
async function runWrk(workshop: Workshop, seconds: number, load: Load): Promise<string> {
  const { url, headers = {}, body, callers = CALLERS, tokens = 'none', connections = 32 } = load;
  const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const wrk = workshop.run(CLIENT_CORE, 'wrk', [
    ...['-t1', `-c${connections}`, `-d${LONGEST}`, '--timeout', '60s', '--latency', '-s', ours('bench/callers.lua')],
    ...fields,
    ...[url, '--', String(callers), tokens, ...(body === undefined ? [] : ['POST', body])],
  ]);
  let text = '';
  wrk.onOutput((piece) => {
    text += piece;
  });
  const interruption = setTimeout(() => wrk.child.kill('SIGINT'), seconds * 1000);
  await wrk.ended;
  clearTimeout(interruption);
  return text;
}
