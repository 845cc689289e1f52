import { createHash, randomBytes } from 'node:crypto';

/** What every token of a load begins and ends with: neither may stand anywhere but in a request. */
export const TOKEN_BEGINS = 'QqSecret';
export const TOKEN_ENDS = 'TerceSqQ';

/** One who asks under load. */
export interface LoadCaller {
  readonly index: number;
  readonly token: string;
  /** Tells this caller's items from everybody else's; says nothing about the token. */
  readonly mark: string;
}

export function createCallers(count: number): readonly LoadCaller[] {
  return Array.from({ length: count }, (_, index) => {
    const token = `${TOKEN_BEGINS}-${randomBytes(12).toString('hex')}-${TOKEN_ENDS}`;
    return { index, token, mark: createHash('sha256').update(token).digest('hex').slice(0, 12) };
  });
}
