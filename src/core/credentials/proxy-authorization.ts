import { Credential } from '../kernel/caller.ts';

export interface ProxyUser {
  readonly user?: string | undefined;
  /** @default empty */
  readonly password?: string | undefined;
}

/** What a proxy is told to know Portico, as Basic (RFC 7617; RFC 9110, section 11.7.2); `undefined` without a user. */
export function proxyAuthorization({ user, password = '' }: ProxyUser): (() => string) | undefined {
  if (user === undefined) return undefined;
  const held = new Credential(Buffer.from(`${user}:${password}`).toString('base64'));
  return () => `Basic ${held.reveal()}`;
}
