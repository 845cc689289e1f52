import { availableParallelism } from 'node:os';

/** Servers take turns here, with nothing else of the bench beside them. */
export const SERVER_CORE = 0;

/** For all else: what asks the servers, what they ask, and the bench itself, which reads their logs. */
export const CLIENT_CORE = 1;

/** Whether this machine has both. */
export function hasBothCores(): boolean {
  return availableParallelism() > CLIENT_CORE;
}
