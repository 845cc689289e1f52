/** Whose projects a caller sees. */
export type Tenant = 'harbour-bank' | 'kestrel-health';

const TENANTS: ReadonlyMap<string, Tenant> = new Map([
  ['demo-alice', 'harbour-bank'],
  ['demo-bob', 'kestrel-health'],
]);

/** The tenant behind an `Authorization` header, or `undefined` where it holds neither of the two tokens. */
export function tenantOf(authorization = ''): Tenant | undefined {
  const [, token = ''] = /^Bearer +(\S+)$/i.exec(authorization) ?? [];
  return TENANTS.get(token);
}
