import { BlockList, isIP, isIPv4, SocketAddress } from 'node:net';
import type { Exchange } from '../exchange.ts';

/** Stands in the settings for whoever connects over the Unix socket, who has no address. */
export const UNIX = 'unix';

/** What names the client of a request: its IPv4 address, the /64 of its IPv6 address (where `whole`, all of it), or `unix`. */
export type ClientAddress = (exchange: Pick<Exchange, 'req' | 'fields'>) => string;

/**
 * Finds the address of a client. A proxy that is trusted adds the address that it was asked from at the right of
 * `X-Forwarded-For` or `Forwarded` (RFC 7239); so they are read from the right, as long as the address that is found is
 * that of a trusted proxy, too. What stands left of the first other one may be anybody's invention.
 *
 * Where a request has both headers and they lead to different addresses, one of them is the client's own, which the proxy
 * let through: then neither is believed.
 */
export function createClientAddress(trustedProxies: readonly string[], { whole = false } = {}): ClientAddress {
  const shown = whole ? (address: string) => address : network;
  const trusted = blockListOf(trustedProxies.filter((entry) => entry !== UNIX));
  const trustsUnix = trustedProxies.includes(UNIX);
  const isTrusted = (address: string) =>
    address === UNIX ? trustsUnix : trusted.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');

  function follow(from: string, hops: readonly (string | undefined)[]): string {
    let address = from;
    for (let index = hops.length - 1; index >= 0 && isTrusted(address); index -= 1) {
      const hop = hops[index];
      // Hidden by a proxy that is trusted (RFC 7239, section 6), or not well-formed: nobody beyond it is known.
      if (hop === undefined) break;
      address = hop;
    }
    return address;
  }

  return ({ req, fields: { forwarded, forwardedFor } }) => {
    const peer = addressOf(req.socket.remoteAddress ?? '') ?? UNIX;
    if ((forwarded === undefined && forwardedFor === undefined) || !isTrusted(peer)) return shown(peer);
    const byForwarded = forwarded === undefined ? undefined : follow(peer, hopsOfForwarded(forwarded));
    const byList = forwardedFor === undefined ? undefined : follow(peer, forwardedFor.split(',').map(nodeAddress));
    if (byForwarded !== undefined && byList !== undefined && byForwarded !== byList) return shown(peer);
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

const MAPPED = /^::ffff:(?:(\d+\.\d+\.\d+\.\d+)|([0-9a-f]{1,4}):([0-9a-f]{1,4}))$/;

/** An address in the one form that it is compared in: IPv4 out of its IPv6 form (RFC 4291, section 2.5.5.2), no zone. */
function addressOf(text: string): string | undefined {
  const zone = text.indexOf('%');
  const bare = zone === -1 ? text : text.slice(0, zone);
  const version = isIP(bare);
  if (version === 0) return undefined;
  if (version === 4) return bare;
  const { address } = new SocketAddress({ address: bare, family: 'ipv6' });
  const [, dotted, high, low] = MAPPED.exec(address) ?? [];
  if (dotted !== undefined) return dotted;
  if (high === undefined || low === undefined) return address;
  return [high, low].flatMap((part) => [Number.parseInt(part, 16) >> 8, Number.parseInt(part, 16) & 255]).join('.');
}

/** `nodename [ ":" node-port ]` (RFC 7239, section 6); proxies write IPv6 without brackets, too. */
function nodeAddress(node: string): string | undefined {
  const text = node.trim();
  const [, bracketed, dotted] = /^(?:\[([^\]]*)\]|(\d+\.\d+\.\d+\.\d+))(?::[\w.-]+)?$/.exec(text) ?? [];
  return addressOf(bracketed ?? dotted ?? text);
}

/** One `name=value` of `Forwarded`, and what comes after it (RFC 7239, section 4). Proxies write addresses unquoted, too. */
const PAIR = /[\t ]*(?:([^\s=;,"]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?[\t ]*(?:([;,])|$)/y;

/** Nobody beyond the one who sent the header. */
const UNKNOWN = [undefined];

/**
 * The addresses in `Forwarded`, by its elements. One that is not well-formed throughout names nobody: a client may have
 * opened a quote for what the proxy adds to end up in.
 */
function hopsOfForwarded(value: string): readonly (string | undefined)[] {
  const hops: (string | undefined)[] = [];
  let hop: string | undefined;
  PAIR.lastIndex = 0;
  for (;;) {
    const pair = PAIR.exec(value);
    if (pair === null) return UNKNOWN;
    const [, name, quoted, token, separator] = pair;
    if (name?.toLowerCase() === 'for') hop = nodeAddress(quoted ?? token ?? '');
    if (separator !== ';') {
      hops.push(hop);
      hop = undefined;
    }
    if (separator === undefined) return hops;
  }
}

/** One subscriber has a /64, or more, and may send from any address of it (RFC 6177). */
function network(address: string): string {
  if (!address.includes(':')) return address;
  const [left = '', right] = address.split('::');
  const head = left === '' ? [] : left.split(':');
  const tail = right === undefined || right === '' ? [] : right.split(':');
  const zeros = right === undefined ? 0 : 8 - head.length - tail.length;
  return `${[...head, ...Array<string>(Math.max(zeros, 0)).fill('0'), ...tail].slice(0, 4).join(':')}::/64`;
}
