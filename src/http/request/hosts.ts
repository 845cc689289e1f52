import { type AddressInfo, isIP } from 'node:net';

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/** `uri-host [ ":" port ]` (RFC 9110, section 7.2). */
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[\w\-.~!$&'()*+,;=%]*)(?::\d*)?$/;

const PORT = /:\d*$/;

export function isHost(value: string): boolean {
  return HOST.test(value);
}

/** The hosts of a listener. */
export interface Hosts {
  /** Whether it answers for a host. */
  answersFor(host: string): boolean;
  /**
   * Whether a host that it answers for is certain to be its own. A name that nobody listed may be that of a web page which
   * was made to resolve to this listener (DNS rebinding); an address and a loopback name belong to nobody else.
   */
  isOwn(host: string): boolean;
}

/** The hosts of a listener that is bound to `address`; `publicHost`, by which clients know it, is one of them. */
export function hostsOf(
  allowedHosts: readonly string[] | undefined,
  address: AddressInfo | string | null,
  publicHost?: string,
): Hosts {
  const { answersFor, isOwn } = boundHosts(allowedHosts, address);
  if (publicHost === undefined) return { answersFor, isOwn };
  const isPublic = (host: string) => host === publicHost || host.toLowerCase() === publicHost;
  return {
    answersFor: (host) => answersFor(host) || isPublic(host),
    isOwn: (host) => isOwn(host) || isPublic(host),
  };
}

/**
 * The hosts of a listener that is bound to `address`. Without a setting, one on a loopback address answers for loopback
 * names only: a page of another name that was made to resolve to 127.0.0.1 would else read what this machine's callers
 * may. Their port does not matter: `ssh -L` and `kubectl port-forward` change it, and no page can choose such a name.
 * Any other listener answers for all, and so does a Unix socket, which is out of reach for a web page.
 */
function boundHosts(allowedHosts: readonly string[] | undefined, address: AddressInfo | string | null): Hosts {
  if (allowedHosts !== undefined) {
    const listed = new Set(allowedHosts.map((host) => host.toLowerCase()));
    return only((host) => listed.has(host) || listed.has(host.toLowerCase()));
  }
  if (address === null || typeof address === 'string' || !isLoopbackAddress(address.address)) {
    return { answersFor: isHost, isOwn: (host) => isLoopbackHost(host) || isAddress(host) };
  }
  const names = new Set([...LOOPBACK_NAMES, bracketed(address)]);
  // Those that nearly all requests name need not be taken apart.
  const usual = new Set([...names].flatMap((name) => [name, `${name}:${address.port}`]));
  return only((host) => usual.has(host) || names.has(host.toLowerCase().replace(PORT, '')));
}

/** Whether a host, with or without a port, names this machine for whoever is on it. */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(PORT, '');
  return LOOPBACK_NAMES.includes(name) || /^127(?:\.\d+){3}$/.test(name) || name.endsWith('.localhost');
}

/** An address as URLs have it. */
export function bracketed({ address, family }: AddressInfo): string {
  return family === 'IPv6' ? `[${address}]` : address;
}

function only(answersFor: (host: string) => boolean): Hosts {
  return { answersFor, isOwn: answersFor };
}

function isAddress(host: string): boolean {
  return isIP(host.replace(PORT, '').replace(/^\[(.*)\]$/, '$1')) !== 0;
}

/** Whether an IP address is one that only this machine itself can send from. */
export function isLoopbackAddress(address: string): boolean {
  return address === '::1' || address.startsWith('127.') || address.startsWith('::ffff:127.');
}
