import type { AddressInfo } from 'node:net';

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/** `uri-host [ ":" port ]` (RFC 9110, section 7.2). */
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[\w\-.~!$&'()*+,;=%]*)(?::\d*)?$/;

export function isHost(value: string): boolean {
  return HOST.test(value);
}

/**
 * The hosts that a listener answers for, in lower case; `undefined` means any. Without a setting, a listener on a
 * loopback address answers for loopback names only: a web page whose own name was made to resolve to 127.0.0.1 (DNS
 * rebinding) would else read what this machine's callers may. A Unix socket is out of reach for a web page.
 */
export function hostsAnsweredFor(
  allowedHosts: readonly string[] | undefined,
  address: AddressInfo | string | null,
): ReadonlySet<string> | undefined {
  if (allowedHosts !== undefined) return new Set(allowedHosts.map((host) => host.toLowerCase()));
  if (address === null || typeof address === 'string' || !isLoopback(address.address)) return undefined;
  const names = new Set([...LOOPBACK_NAMES, bracketed(address)]);
  return new Set([...names].flatMap((name) => [name, `${name}:${address.port}`]));
}

/** Whether a host, with or without a port, names this machine for whoever is on it. */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(/:\d*$/, '');
  return LOOPBACK_NAMES.includes(name) || /^127(?:\.\d+){3}$/.test(name) || name.endsWith('.localhost');
}

/** An address as URLs have it. */
export function bracketed({ address, family }: AddressInfo): string {
  return family === 'IPv6' ? `[${address}]` : address;
}

function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.') || address.startsWith('::ffff:127.');
}
