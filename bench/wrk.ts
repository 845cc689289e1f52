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
  /** Where it is sent from. @default the clients' core */
  readonly core?: number;
}

/** What one run of wrk saw. */
export interface Throughput {
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
}

/** Callers whose tokens the servers are warmed up with. */
export const CALLERS = 1000;

const MS = { us: 0.001, ms: 1, s: 1000, m: 60_000 };

/** The token of a caller, counted from 1, as `callers.lua` sends it. */
export function tokenOf(caller: number): string {
  return `bench-${caller}`;
}

/** Loads a server for a while from one core. An answer of 400 or above, and a connection that fails, is an error. */
export async function measure(workshop: Workshop, seconds: number, load: Load): Promise<Throughput> {
  const { url, headers = {}, body, callers = CALLERS, tokens = 'none', connections = 32, core = CLIENT_CORE } = load;
  const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const wrk = workshop.run(core, 'wrk', [
    ...['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '60s', '--latency', '-s', ours('bench/callers.lua')],
    ...fields,
    ...[url, '--', String(callers), tokens, ...(body === undefined ? [] : ['POST', body])],
  ]);
  let text = '';
  wrk.onOutput((piece) => {
    text += piece;
  });
  await wrk.ended;
  const rate = /Requests\/sec:\s+([\d.]+)/.exec(text)?.[1];
  const [, p99 = '', unit = ''] = /99%\s+([\d.]+)(us|ms|s|m)/.exec(text) ?? [];
  if (!(Number(rate) > 0) || /Non-2xx|Socket errors/.test(text)) throw new Error(`wrk at ${url}:\n${text}`);
  return { requestsPerSecond: Number(rate), p99Ms: Number(p99) * (MS[unit as keyof typeof MS] ?? Number.NaN) };
}
