import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** What one run of wrk saw. */
export interface Throughput {
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
}

const CONNECTIONS = 32;

const TOKENS = fileURLToPath(new URL('tokens.lua', import.meta.url));

/** Sends requests of many callers for `seconds` from one core and tells how many were answered with 2xx; any other answer is an error. */
export async function measure(core: number, url: string, seconds: number): Promise<Throughput> {
  const args = ['-c', String(core), 'wrk', '-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '--latency', '-s', TOKENS, url];
  const child = spawn('taskset', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) text += chunk;
  const rate = /Requests\/sec:\s+([\d.]+)/.exec(text)?.[1];
  const [, p99 = '', unit = ''] = /99%\s+([\d.]+)(us|ms|s)/.exec(text) ?? [];
  if (rate === undefined || /Non-2xx|Socket errors/.test(text)) throw new Error(`wrk at ${url}:\n${text}`);
  return { requestsPerSecond: Number(rate), p99Ms: Number(p99) * ({ us: 0.001, ms: 1, s: 1000 }[unit] ?? Number.NaN) };
}
