import { availableParallelism } from 'node:os';

/** A list of cores, as `taskset -c` takes it. */
export type Cores = '0' | '1' | '0,1';

/** Servers take turns here, with nothing else of the bench beside them. */
export const SERVER_CORE = '0' satisfies Cores;

/** For all else: what asks the servers, what they ask, and the bench itself, which reads their logs. */
export const CLIENT_CORE = '1' satisfies Cores;

/** For servers that are compared by processor time only, since the second core is also that of the clients. */
export const BOTH_CORES = '0,1' satisfies Cores;

/** Whether this machine has both. */
export function hasBothCores(): boolean {
  return availableParallelism() > 1;
}
