import { type AddressInfo, isIP } from 'node:net';

/** `uri-host [ ":" port ]` (RFC 9110, section 7.2). */
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[\w\-.~!$&'()*+,;=%]*)(?::\d*)?$/;

export function isHost(value: string): boolean {
  return HOST.test(value);
}

/**
 * Returns whether a host, with any port, is safe (docs/decisions/0005): loopback names, IP addresses and these names. Any other name
 * may be that of a web page, made to resolve to this listener (DNS rebinding).
 */
export function createIsOwnHost(names: readonly string[]): (host: string) => boolean {
  const own = new Set(names.map((name) => name.toLowerCase()));
  return (host) => isHost(host) && (own.has(nameOf(host)) || isLoopbackHost(host) || isAddress(host));
}

function nameOf(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, '');
}

/** Whether a host, with or without a port, is a loopback name. */
export function isLoopbackHost(host: string): boolean {
  const name = nameOf(host);
  return name === 'localhost' || name === '[::1]' || /^127(?:\.\d+){3}$/.test(name) || name.endsWith('.localhost');
}

function isAddress(host: string): boolean {
  return isIP(nameOf(host).replace(/^\[(.*)\]$/, '$1')) !== 0;
}

/** Returns an address as URLs have it. */
export function bracketed({ address, family }: AddressInfo): string {
  return family === 'IPv6' ? `[${address}]` : address;
}

/**
 * Whether an origin is that of a listener with this `Host`. Unless TLS ends in Portico (`isSecure`), a proxy may end it: then the
 * page is of `https:` although the request came over `http:`.
 */
export function isSameOrigin(origin: string, host: string, isSecure = false): boolean {
  const page = URL.parse(origin);
  if (page?.origin !== origin || !(isSecure ? /^https:$/ : /^https?:$/).test(page.protocol)) return false;
  return URL.parse(`${page.protocol}//${host}`)?.host === page.host;
}
