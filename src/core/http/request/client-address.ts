import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, SocketAddress } from 'node:net';

/** Proxies that are followed: a client may send a list of any length. */
const MAX_HOPS = 32;

/** In settings, the peers over the Unix socket, which have no address. */
const UNIX = 'unix';

/**
 * Finds the address of a client, or `unix`. Each trusted proxy adds the address of its peer at the right of `X-Forwarded-For`: what is
 * left of the first address that is not a trusted proxy's may be invented.
 */
export function createClientAddress(trustedProxies: readonly string[]) {
  const trusted = new BlockList();
  for (const entry of trustedProxies) {
    if (entry === UNIX) continue;
    const [address = '', prefix = isIP(entry) === 4 ? 32 : 128] = entry.split('/');
    trusted.addSubnet(address, Number(prefix), familyOf(address));
  }
  const isTrusted = (address: string) =>
    address === UNIX ? trustedProxies.includes(UNIX) : trusted.check(address, familyOf(address));

  return ({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string => {
    let address = addressOf(socket.remoteAddress ?? '') ?? UNIX;
    const list = headers['x-forwarded-for'];
    if (list === undefined) return address;
    const hops = list.toString().split(',').slice(-MAX_HOPS);
    while (isTrusted(address)) {
      const hop = nodeAddress(hops.pop() ?? '');
      // Malformed, or the last one: nothing is known beyond it.
      if (hop === undefined) break;
      address = hop;
    }
    return address;
  };
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/;

/** Normalizes an address: IPv4 out of its IPv6 form (RFC 4291, section 2.5.5.2), no zone. `undefined` for other text. */
function addressOf(text: string): string | undefined {
  const bare = text.replace(/%.*/, '');
  const version = isIP(bare);
  if (version !== 6) return version === 4 ? bare : undefined;
  const { address } = new SocketAddress({ address: bare, family: 'ipv6' });
  return MAPPED.exec(address)?.[1] ?? address;
}

/** With a port or without, IPv6 in brackets or not. */
function nodeAddress(node: string): string | undefined {
  const text = node.trim();
  const [, bracketed, dotted] = /^(?:\[([^\]]*)\]|(\d+\.\d+\.\d+\.\d+))(?::[\w.-]+)?$/.exec(text) ?? [];
  return addressOf(bracketed ?? dotted ?? text);
}

/** Returns an IPv4 address as it is, and the /64 of an IPv6 address: one subscriber may send from all of it (RFC 6177). */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const [left = '', right = ''] = address.split('::');
  const [head, tail] = [left, right].map((part) => (part === '' ? [] : part.split(':'))) as [string[], string[]];
  const zeros = Array<string>(8 - head.length - tail.length).fill('0');
  return `${[...head, ...zeros, ...tail].slice(0, 4).join(':')}::/64`;
}
