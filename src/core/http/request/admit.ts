import { type AddressInfo, BlockList, isIP, isIPv4, SocketAddress } from 'node:net';
import { explained, GatewayError } from '../../kernel/errors.ts';
import type { Exchange } from '../exchange.ts';
import type { HttpRequest } from '../http-request.ts';
import type { Operation } from '../operations/operation.ts';
import { type Hosts, type HostsOptions, hostsOf, isHost, isSameOrigin } from './hosts.ts';

/** Fields of a response that a page may read, beside those that it always may. */
const EXPOSED = [
  ...['Age', 'Allow', 'Cache-Status', 'ETag', 'Mcp-Protocol-Version', 'Portico-Dropped-Items'],
  ...['RateLimit', 'RateLimit-Policy', 'Retry-After', 'WWW-Authenticate', 'X-Request-Id'],
].join(', ');

const VARY_ORIGIN: readonly string[] = ['Vary', 'Origin'];

/** For responses that are the same for all. */
const ANY_ORIGIN: readonly string[] = [
  ...['Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', EXPOSED],
];

export interface AdmitOptions extends HostsOptions {
  readonly maxUrlBytes: number;
  readonly maxHeaderBytes: number;
  /** Where clients find this server: its host and its origin are its own. */
  readonly publicUrl?: string | undefined;
  /** Web origins, beside its own, whose pages may read responses. */
  readonly allowedOrigins: readonly string[];
  /** Where the listener is bound; called once, with the first request. */
  readonly address: () => AddressInfo | string | null;
  readonly isSecure: boolean;
  readonly trustedProxies?: readonly string[] | undefined;
}

/** Checks a request before its credential is read, and finds its client's address. Probes are admitted for any host and origin. */
export function createAdmit(options: AdmitOptions) {
  const {
    maxUrlBytes,
    maxHeaderBytes,
    alsoHosts = [],
    allowedOrigins,
    address,
    isSecure,
    trustedProxies = [],
  } = options;
  const publicUrl = options.publicUrl === undefined ? undefined : new URL(options.publicUrl);
  const ownHosts = { ...options, alsoHosts: publicUrl === undefined ? alsoHosts : [...alsoHosts, publicUrl.host] };
  const origins = createOrigins(allowedOrigins);
  const addressOf = createClientAddress(trustedProxies);
  let hosts: Hosts | undefined;
  /** Most clients name the same one. */
  let lastHost: string | undefined;

  /** Rejects framing that Node's parser accepts. */
  function checkFraming(exchange: Exchange): void {
    const { req, url, target, fields } = exchange;
    if (req.httpVersion !== '1.1' && req.httpVersion !== '1.0') throw invalid('This server speaks HTTP/1.1.');
    if (url.length > maxUrlBytes) throw new GatewayError('uri_too_long', { bound: 'http.maxUrlBytes' });
    if (fields.bytes > maxHeaderBytes) throw new GatewayError('headers_too_large', { bound: 'http.maxHeaderBytes' });
    const { transferEncoding } = fields;
    // RFC 9112, section 6.1. A proxy may see the end of such a body elsewhere: the connection ends with it.
    if (transferEncoding !== undefined && transferEncoding.toLowerCase() !== 'chunked') {
      exchange.takesBody = false;
      throw new GatewayError('transfer_coding_unsupported');
    }
    if (target === undefined) throw invalid('The request target is neither a path nor an http URL.');
  }

  /** Rejects a request for another host, or for two (RFC 9112, section 3.2): a proxy in front may have used the other. */
  function checkHost({ req, target, fields }: Exchange): void {
    const { length } = fields.host;
    if (length > 1 || (length === 0 && req.httpVersion === '1.1')) {
      throw invalid('The request must have exactly one Host header.');
    }
    const named = target?.authority ?? fields.host[0];
    if (named === undefined || named === lastHost) return;
    hosts ??= hostsOf(ownHosts, address());
    if (hosts.answersFor(named)) {
      lastHost = named;
      return;
    }
    throw isHost(named) ? new GatewayError('host_refused') : invalid('The host is not well-formed.');
  }

  /** Rejects requests of web pages, unless their origin is this server's own or allowed (docs/decisions/0005). */
  function checkOrigin({ fields: { origin, host }, target }: Exchange): void {
    if (origin === undefined || origin === publicUrl?.origin || origins.has(origin)) return;
    const named = target?.authority ?? host[0];
    if (named !== undefined && hosts?.isOwn(named) && isSameOrigin(origin, named, isSecure)) return;
    throw new GatewayError('origin_refused');
  }

  return function admit(exchange: Exchange, { isProbe, takesBody, methods, forAnyPage, open }: Operation): void {
    // First of all: pages of allowed origins can read errors, too.
    exchange.originHeaders = forAnyPage ? ANY_ORIGIN : origins.headersFor(exchange.fields.origin);
    checkFraming(exchange);
    if (!isProbe) {
      if (exchange.arrivedWhileDraining) throw new GatewayError('draining');
      checkHost(exchange);
      if (!forAnyPage) checkOrigin(exchange);
    }
    // A body on a GET has no meaning, and can smuggle a request past a proxy (RFC 9110, section 9.3.1). An unknown path and
    // a wrong method are reported first.
    if (exchange.hasBody && !takesBody && methods.length > 0) throw invalid('This request must not have a body.');
    if (open !== true) exchange.address = addressOf(exchange);
  };
}

function invalid(detail: string): GatewayError {
  return explained('invalid_request', detail);
}

/**
 * Fetch, section 3.3. Each response names the one origin, never `*`, and has no `Access-Control-Allow-Credentials`: a page sets
 * `Authorization` itself. Where origins are listed, every response varies by `Origin`.
 */
function createOrigins(allowedOrigins: readonly string[]) {
  const headers = new Map(
    allowedOrigins.map((allowed) => {
      const { origin } = new URL(allowed);
      const opened = ['Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', EXPOSED, ...VARY_ORIGIN];
      return [origin, opened];
    }),
  );
  const others = headers.size === 0 ? undefined : VARY_ORIGIN;
  return {
    has: (origin: string) => headers.has(origin),
    headersFor: (origin: string | undefined) => (origin === undefined ? others : (headers.get(origin) ?? others)),
  };
}

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

  return ({ req, fields: { forwarded, forwardedFor } }: Pick<HttpRequest, 'req' | 'fields'>): string => {
    const text = req.socket.remoteAddress ?? '';
    if (text !== last.text) {
      const peer = addressOf(text) ?? UNIX;
      last = { text, peer, shownPeer: shown(peer) };
    }
    const { peer, shownPeer } = last;
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
