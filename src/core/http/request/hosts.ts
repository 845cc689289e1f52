import { type AddressInfo, isIP } from 'node:net';

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/** `uri-host [ ":" port ]` (RFC 9110, section 7.2). */
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[\w\-.~!$&'()*+,;=%]*)(?::\d*)?$/;

const PORT = /:\d*$/;

export function isHost(value: string): boolean {
  return HOST.test(value);
}

export interface Hosts {
  answersFor(host: string): boolean;
  /** A name that settings do not list may be that of a web page, made to resolve to this listener (DNS rebinding). */
  isOwn(host: string): boolean;
}

export interface HostsOptions {
  /** Hosts to answer for, and no others; `name:*` is one with any port. @default as {@link boundHosts} says */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Hosts to answer for beside those. @default none */
  readonly alsoHosts?: readonly string[] | undefined;
  /** Whether the listener answers for names that are not listed, on an address that is not loopback. @default false */
  readonly acceptsAnyHost?: boolean | undefined;
}

/** Returns the hosts of a listener that is bound to `address`. */
export function hostsOf(
  { allowedHosts, alsoHosts = [], acceptsAnyHost = false }: HostsOptions,
  address: AddressInfo | string | null,
): Hosts {
  const bound = allowedHosts === undefined ? boundHosts(address, acceptsAnyHost) : only(listed(allowedHosts));
  const isListed = listed(alsoHosts);
  return {
    answersFor: (host) => bound.answersFor(host) || isListed(host),
    isOwn: (host) => bound.isOwn(host) || isListed(host),
  };
}

function listed(hosts: readonly string[]): (host: string) => boolean {
  const names = new Set(hosts.map((host) => host.toLowerCase()));
  return (host) => {
    const name = host.toLowerCase();
    return names.has(name) || names.has(`${name.replace(PORT, '')}:*`);
  };
}

/**
 * Without a list. On a loopback address they are loopback names, with any port: `ssh -L` and `kubectl port-forward` change it. On
 * other addresses they are also IP addresses, which cannot be made to resolve (docs/decisions/0005). A Unix socket is out of reach
 * for web pages, and answers for any host.
 */
function boundHosts(address: AddressInfo | string | null, acceptsAnyHost: boolean): Hosts {
  if (address === null || typeof address === 'string' || !isLoopbackAddress(address.address)) {
    const isOwn = (host: string) => isHost(host) && (isLoopbackHost(host) || isAddress(host));
    const isOpen = acceptsAnyHost || address === null || typeof address === 'string';
    return { answersFor: isOpen ? isHost : isOwn, isOwn };
  }
  const names = new Set([...LOOPBACK_NAMES, bracketed(address)]);
  return only((host) => names.has(host.toLowerCase().replace(PORT, '')));
}

/** Whether a host, with or without a port, is a loopback name. */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(PORT, '');
  return LOOPBACK_NAMES.includes(name) || /^127(?:\.\d+){3}$/.test(name) || name.endsWith('.localhost');
}

/** Returns an address as URLs have it. */
export function bracketed({ address, family }: AddressInfo): string {
  return family === 'IPv6' ? `[${address}]` : address;
}

function only(answersFor: (host: string) => boolean): Hosts {
  return { answersFor, isOwn: answersFor };
}

function isAddress(host: string): boolean {
  return isIP(host.replace(PORT, '').replace(/^\[(.*)\]$/, '$1')) !== 0;
}

/** Only this machine itself can send from such an address. */
function isLoopbackAddress(address: string): boolean {
  return address === '::1' || address.startsWith('127.') || address.startsWith('::ffff:127.');
}

/**
 * Whether an origin is that of a listener with this `Host`. Unless TLS ends in Portico (`isSecure`), a proxy may end it: then the
 * page is of `https:` although the request came over `http:`.
 */
export function isSameOrigin(origin: string, host: string, isSecure = false): boolean {
  const page = URL.parse(origin);
  if (page === null || page.origin !== origin || !(isSecure ? /^https:$/ : /^https?:$/).test(page.protocol))
    return false;
  return URL.parse(`${page.protocol}//${host}`)?.host === page.host;
}
