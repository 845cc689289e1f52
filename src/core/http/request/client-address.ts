import { BlockList, isIP, isIPv4, SocketAddress } from 'node:net';
import type { HttpRequest } from '../http-request.ts';

/** Proxies that are followed, and characters of a list that are read, from its right: a client may send a list of any length. */
const MAX_HOPS = 32;
const MAX_LIST_LENGTH = 4096;

/** In settings, the peers over the Unix socket, which have no address. */
const UNIX = 'unix';

/**
 * Finds the IPv4 address of a client, the /64 of its IPv6 address (where `whole`, all of it), or `unix`. Each trusted proxy adds
 * the address of its peer at the right of `X-Forwarded-For` or `Forwarded` (RFC 7239): what is left of the first address that is
 * not a trusted proxy's may be invented. Where both headers lead to different addresses, the client itself has sent one of them:
 * then neither is used.
 */
export function createClientAddress(trustedProxies: readonly string[], { whole = false } = {}) {
  const shown = whole ? (address: string) => address : network;
  const trusted = blockListOf(trustedProxies.filter((entry) => entry !== UNIX));
  const trustsUnix = trustedProxies.includes(UNIX);
  const isTrusted = (address: string) =>
    address === UNIX ? trustsUnix : trusted.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');

  function follow(peer: string, list: string, addressIn: (element: string) => string | undefined): string {
    const elements = list.slice(-MAX_LIST_LENGTH).split(',');
    // The first element may be cut off.
    if (list.length > MAX_LIST_LENGTH) elements.shift();
    let address = peer;
    for (const element of elements.reverse().slice(0, MAX_HOPS)) {
      const hop = addressIn(element);
      // Hidden by a trusted proxy (RFC 7239, section 6), or malformed: the addresses beyond it are unknown.
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
    const forwarded = headers.forwarded;
    const forwardedFor = headers['x-forwarded-for']?.toString();
    if ((forwarded === undefined && forwardedFor === undefined) || !isTrusted(peer)) return shownPeer;
    const byForwarded = forwarded === undefined ? undefined : follow(peer, forwarded, addressInForwarded);
    const byList = forwardedFor === undefined ? undefined : follow(peer, forwardedFor, nodeAddress);
    if (byForwarded !== undefined && byList !== undefined && byForwarded !== byList) return shownPeer;
    return shown(byForwarded ?? byList ?? peer);
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

/** `nodename [ ":" node-port ]` (RFC 7239, section 6); proxies write IPv6 without brackets, too. */
function nodeAddress(node: string): string | undefined {
  const text = node.trim();
  const [, bracketed, dotted] = /^(?:\[([^\]]*)\]|(\d+\.\d+\.\d+\.\d+))(?::[\w.-]+)?$/.exec(text) ?? [];
  return addressOf(bracketed ?? dotted ?? text);
}

/** One `name=value` of `Forwarded` with its separator (RFC 7239, section 4). Proxies write addresses unquoted, too. */
const PAIR = /[\t ]*(?:([^\s=;,"]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?[\t ]*(?:(;)|$)/y;

/** `undefined` where an element has none or is malformed, such as one with a comma in quotes, which was split. */
function addressInForwarded(element: string): string | undefined {
  let hop: string | undefined;
  PAIR.lastIndex = 0;
  for (;;) {
    const pair = PAIR.exec(element);
    if (pair === null) return undefined;
    const [, name, quoted, token, separator] = pair;
    if (name?.toLowerCase() === 'for') hop = nodeAddress(quoted ?? token ?? '');
    if (separator === undefined) return hop;
  }
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
