import { BlockList, isIP, isIPv4, SocketAddress } from 'node:net';
import type { Exchange } from '../exchange.ts';

/** Proxies that are followed, and characters of what each of them adds: a client may send as many as a head has room for. */
const MAX_HOPS = 32;
const MAX_ELEMENT_LENGTH = 1024;

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

  function follow(
    from: string,
    elements: Iterable<string>,
    addressIn: (element: string) => string | undefined,
  ): string {
    let address = from;
    let hops = 0;
    for (const element of elements) {
      const hop = element.length > MAX_ELEMENT_LENGTH ? undefined : addressIn(element);
      hops += 1;
      // Hidden by a proxy that is trusted (RFC 7239, section 6), or not well-formed: nobody beyond it is known.
      if (hop === undefined) break;
      address = hop;
      if (hops === MAX_HOPS || !isTrusted(address)) break;
    }
    return address;
  }

  return ({ req, fields: { forwarded, forwardedFor } }) => {
    const peer = addressOf(req.socket.remoteAddress ?? '') ?? UNIX;
    if ((forwarded === undefined && forwardedFor === undefined) || !isTrusted(peer)) return shown(peer);
    const byForwarded = forwarded === undefined ? undefined : follow(peer, fromRight(forwarded), addressInForwarded);
    const byList = forwardedFor === undefined ? undefined : follow(peer, fromRight(forwardedFor), nodeAddress);
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

/** The address in one element of `Forwarded`; `undefined` where it has none, or is not well-formed throughout. */
function addressInForwarded(element: string): string | undefined {
  let hop: string | undefined;
  PAIR.lastIndex = 0;
  for (;;) {
    const pair = PAIR.exec(element);
    if (pair === null) return undefined;
    const [, name, quoted, token, separator] = pair;
    if (name?.toLowerCase() === 'for') hop = nodeAddress(quoted ?? token ?? '');
    if (separator === undefined) return hop;
    if (separator === ',') return undefined;
  }
}

/**
 * The elements of a list, the last one first, each found when it is asked for. A comma in a quoted string separates nothing. What
 * proxies added stands at the right, so that a quote which a client opens is met behind all of it.
 */
function* fromRight(list: string): Generator<string> {
  let end = list.length;
  let isQuoted = false;
  for (let at = end - 1; at >= 0; at -= 1) {
    const character = list[at];
    if (character === '"' && !(isQuoted && isEscaped(list, at))) isQuoted = !isQuoted;
    else if (character === ',' && !isQuoted) {
      yield list.slice(at + 1, end);
      end = at;
    }
    // An element that is too long leads nowhere, wherever it begins.
    if (end - at > MAX_ELEMENT_LENGTH + 1) break;
  }
  yield list.slice(0, end);
}

/** Whether what stands here in a quoted string is part of a quoted-pair (RFC 9110, section 5.6.4). */
function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
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
