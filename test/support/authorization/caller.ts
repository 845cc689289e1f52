import { type Caller, Credential } from '../../../src/core/kernel/caller.ts';

export const TOKEN = 'token-of-the-test';

export const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

/** A caller as an edge creates it, with a key and a cache scope that contain the token. */
export function callerWith(token = TOKEN, rest: Partial<Caller> = {}): Caller {
  return {
    credential: new Credential(token),
    credentialKey: `key of ${token}`,
    cacheScope: `cache scope of ${token}`,
    requestId: 'request-of-the-test',
    ...rest,
  };
}
