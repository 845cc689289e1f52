import { type Caller, Credential } from '../../src/kernel/caller.ts';

/** A caller as the edge would make one. */
export function callerWith(token = 'token-of-the-test'): Caller {
  return { credential: new Credential(token), partition: 'partition-of-the-test', requestId: 'request-of-the-test' };
}
