import type { AddressInfo } from 'node:net';
import { GatewayError } from '../../kernel/errors.ts';
import type { Exchange } from '../exchange.ts';
import type { Operation } from '../operations/operation.ts';
import { FOR_ANY_PAGE } from '../response/cors.ts';
import { type Hosts, type HostsOptions, hostsOf, isHost } from './hosts.ts';
import { createOrigins, isSameOrigin } from './web-origins.ts';

export interface AdmitOptions extends HostsOptions {
  readonly maxUrlBytes: number;
  readonly maxHeaderBytes: number;
  /** Where clients find this server: its host and its origin are its own. */
  readonly publicUrl?: string | undefined;
  /** Web origins, beside its own, whose pages may read what is answered here. */
  readonly allowedOrigins: readonly string[];
  /** Where the listener is bound; asked once, with the first request. */
  readonly address: () => AddressInfo | string | null;
  /** Whether TLS ends here. */
  readonly isSecure: boolean;
}

/** Lets a request in, or throws. */
export type Admit = (exchange: Exchange, operation: Operation) => void;

/** What can be wrong with a request before anybody asks who sent it. Probes are let in whoever asks, at any time. */
export function createAdmit(options: AdmitOptions): Admit {
  const { maxUrlBytes, maxHeaderBytes, alsoHosts = [], allowedOrigins, address, isSecure } = options;
  const publicUrl = options.publicUrl === undefined ? undefined : new URL(options.publicUrl);
  const ownHosts = { ...options, alsoHosts: publicUrl === undefined ? alsoHosts : [...alsoHosts, publicUrl.host] };
  const origins = createOrigins(allowedOrigins);
  let hosts: Hosts | undefined;

  /** What of a request's framing the parser lets through. */
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

  /**
   * Refuses a request for another host, and one whose host is in doubt (RFC 9112, section 3.2): a proxy in front may have
   * gone by a different one.
   */
  function checkHost({ req, target, fields }: Exchange): void {
    const { length } = fields.host;
    if (length > 1 || (length === 0 && req.httpVersion === '1.1')) {
      throw invalid('The request must have exactly one Host header.');
    }
    const named = target?.authority ?? fields.host[0];
    hosts ??= hostsOf(ownHosts, address());
    if (named === undefined || hosts.answersFor(named)) return;
    throw isHost(named) ? new GatewayError('host_refused') : invalid('The host is not well-formed.');
  }

  /** Refuses what a web page sends, unless it came from here, or its origin is allowed (docs/decisions/0005). */
  function checkOrigin({ fields: { origin, host }, target }: Exchange): void {
    if (origin === undefined || origin === publicUrl?.origin || origins.has(origin)) return;
    const named = target?.authority ?? host[0];
    if (named !== undefined && hosts?.isOwn(named) && isSameOrigin(origin, named, isSecure)) return;
    throw new GatewayError('origin_refused');
  }

  return function admit(exchange, { isProbe, takesBody, methods, forAnyPage }) {
    // First of all: an allowed page may read what is wrong, too.
    exchange.originHeaders = forAnyPage ? FOR_ANY_PAGE : origins.headersFor(exchange.fields.origin);
    checkFraming(exchange);
    if (!isProbe) {
      if (exchange.cameWhileDraining) throw new GatewayError('draining');
      checkHost(exchange);
      if (!forAnyPage) checkOrigin(exchange);
    }
    // A body on a GET means nothing, and is a way to smuggle a request past a proxy (RFC 9110, section 9.3.1). That its
    // path is unknown, or takes another method, is told first.
    if (exchange.hasBody && !takesBody && methods.length > 0) throw invalid('This request must not have a body.');
  };
}

function invalid(detail: string): GatewayError {
  return new GatewayError('invalid_request', { detail });
}
