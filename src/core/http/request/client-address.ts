import { BlockList, isIP, isIPv4, SocketAddress } from 'node:net';
import type { HttpRequest } from '../http-request.ts';

/** Proxies that are followed, and characters of a list that are read, from its right: a client may send a list of any length. */
const MAX_HOPS = 32;
const MAX_LIST_LENGTH = 4096;

/** In settings, the peers over the Unix socket, which have no address. */
const UNIX = 'unix';

/**
 * Finds the IPv4 address of a client, the /64 of its IPv6 address (where `whole`, all of it), or `unix`. Each trusted proxy adds
 * the address of its peer at the right of `X-Forwarded-For`: what is left of the first address that is not a trusted proxy's may be
 * invented.
 */
export function createClientAddress(trustedProxies: readonly string[], { whole = false } = {}) {
  const shown = whole ? (address: string) => address : network;
  const trusted = blockListOf(trustedProxies.filter((entry) => entry !== UNIX));
  const trustsUnix = trustedProxies.includes(UNIX);
  const isTrusted = (address: string) =>
    address === UNIX ? trustsUnix : trusted.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');

  function follow(peer: string, list: string): string {
    const elements = list.slice(-MAX_LIST_LENGTH).split(',');
    // The first element may be cut off.
    if (list.length > MAX_LIST_LENGTH) elements.shift();
    let address = peer;
    for (const element of elements.reverse().slice(0, MAX_HOPS)) {
      const hop = nodeAddress(element);
      // Malformed: the addresses beyond it are unknown.
      if (hop === undefined) break;
      address = hop;
      if (!isTrusted(address)) break;
    }
    return address;
  }

  /** The last peer: most requests come from few. */
  let last = { text: '', peer: UNIX, shownPeer: UNIX };

  return ({ req: { socket, headers } }: Pick<HttpRequest, 'req'>): string => {
    const text = socket.remoteAddress ?? '';
    if (text !== last.text) {
      const peer = addressOf(text) ?? UNIX;
      last = { text, peer, shownPeer: shown(peer) };
    }
    const { peer, shownPeer } = last;
    const list = headers['x-forwarded-for']?.toString();
    return list === undefined || !isTrusted(peer) ? shownPeer : shown(follow(peer, list));
  };
}

function blockListOf(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/;

/** Normalizes an address: IPv4 out of its IPv6 form (RFC 4291, section 2.5.5.2), no zone. `undefined` for other text. */
function addressOf(text: string): string | undefined {
  const zone = text.indexOf('%');
  const bare = zone === -1 ? text : text.slice(0, zone);
  const version = isIP(bare);
  if (version === 0) return undefined;
  if (version === 4) return bare;
  const { address } = new SocketAddress({ address: bare, family: 'ipv6' });
  return MAPPED.exec(address)?.[1] ?? address;
}

/** With a port or without, IPv6 in brackets or not. */
function nodeAddress(node: string): string | undefined {
  const text = node.trim();
  const [, bracketed, dotted] = /^(?:\[([^\]]*)\]|(\d+\.\d+\.\d+\.\d+))(?::[\w.-]+)?$/.exec(text) ?? [];
  return addressOf(bracketed ?? dotted ?? text);
}

/** Returns the /64 of an IPv6 address: one subscriber may send from all its addresses (RFC 6177). */
function network(address: string): string {
  if (!address.includes(':')) return address;
  const [left = '', right] = address.split('::');
  const head = left === '' ? [] : left.split(':');
  const tail = right === undefined || right === '' ? [] : right.split(':');
  const zeros = right === undefined ? 0 : 8 - head.length - tail.length;
  return `${[...head, ...Array<string>(Math.max(zeros, 0)).fill('0'), ...tail].slice(0, 4).join(':')}::/64`;
}
