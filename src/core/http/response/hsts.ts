import { isLoopbackHost } from '../request/hosts.ts';

const DAY_SECONDS = 86_400;

/**
 * What has browsers come by TLS only (RFC 6797), with each response of a listener that speaks TLS. None on a loopback
 * address: it would hold for whatever else listens on this machine, on every port. Without `includeSubDomains`, since the
 * names below are for others to speak for.
 */
export function hstsHeaders(listenHost: string, maxAgeDays: number): readonly string[] | undefined {
  if (isLoopbackHost(listenHost) || listenHost === '::1') return undefined;
  return ['Strict-Transport-Security', `max-age=${maxAgeDays * DAY_SECONDS}`];
}
