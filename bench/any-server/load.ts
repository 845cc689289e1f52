import { quantile } from '../figures.ts';
import type { ReadCall } from './checks.ts';
import type { Connection } from './connection.ts';

/** How fast one call was answered, over and over. */
interface Speed {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers without a result. */
  readonly failed: number;
}

const CONNECTIONS = 8;

/** Sends one call for a while, from eight places at once, each after its last answer. A quarter of the time before warms up. */
export async function measureCall(connection: Connection, call: ReadCall, seconds: number): Promise<Speed> {
  await repeat(connection, call, seconds / 4);
  const begun = performance.now();
  const { times, failed } = await repeat(connection, call, seconds);
  const requestsPerSecond = (times.length / (performance.now() - begun)) * 1000;
  return { requestsPerSecond, p50Ms: quantile(times, 0.5), p99Ms: quantile(times, 0.99), failed };
}

async function repeat(connection: Connection, { method, params }: ReadCall, seconds: number) {
  const end = performance.now() + seconds * 1000;
  const times: number[] = [];
  let failed = 0;
  const lane = async () => {
    while (performance.now() < end) {
      const begun = performance.now();
      const { message } = await connection.request(times.length, method, params);
      times.push(performance.now() - begun);
      const { result } = Object(message);
      if (result === undefined || result.isError === true) failed += 1;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, lane));
  return { times, failed };
}
