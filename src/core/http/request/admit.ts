import type { AddressInfo } from 'node:net';
import { GatewayError } from '../../kernel/errors.ts';
import type { Exchange } from '../exchange.ts';
import type { Operation } from '../operations/operation.ts';
import { ANY_ORIGIN, createOrigins, isSameOrigin } from '../response/cors.ts';
import { type Hosts, type HostsOptions, hostsOf, isHost } from './hosts.ts';

export interface AdmitOptions extends HostsOptions {
  readonly maxUrlBytes: number;
  readonly maxHeaderBytes: number;
  /** Where clients find this server: its host and its origin are its own. */
  readonly publicUrl?: string | undefined;
  /** Web origins, beside its own, whose pages may read responses. */
  readonly allowedOrigins: readonly string[];
  /** Where the listener is bound; called once, with the first request. */
  readonly address: () => AddressInfo | string | null;
  /** Whether TLS ends here. */
  readonly isSecure: boolean;
}

/** Admits a request, or throws. */
export type Admit = (exchange: Exchange, operation: Operation) => void;

/** Checks a request before its credential is read. Probes are admitted for any host and origin, at any time. */
export function createAdmit(options: AdmitOptions): Admit {
  const { maxUrlBytes, maxHeaderBytes, alsoHosts = [], allowedOrigins, address, isSecure } = options;
  const publicUrl = options.publicUrl === undefined ? undefined : new URL(options.publicUrl);
  const ownHosts = { ...options, alsoHosts: publicUrl === undefined ? alsoHosts : [...alsoHosts, publicUrl.host] };
  const origins = createOrigins(allowedOrigins);
  let hosts: Hosts | undefined;

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
    hosts ??= hostsOf(ownHosts, address());
    if (named === undefined || hosts.answersFor(named)) return;
    throw isHost(named) ? new GatewayError('host_refused') : invalid('The host is not well-formed.');
  }

  /** Rejects requests of web pages, unless their origin is this server's own or allowed (docs/decisions/0005). */
  function checkOrigin({ fields: { origin, host }, target }: Exchange): void {
    if (origin === undefined || origin === publicUrl?.origin || origins.has(origin)) return;
    const named = target?.authority ?? host[0];
    if (named !== undefined && hosts?.isOwn(named) && isSameOrigin(origin, named, isSecure)) return;
    throw new GatewayError('origin_refused');
  }

  return function admit(exchange, { isProbe, takesBody, methods, forAnyPage }) {
    // First of all: pages of allowed origins can read errors, too.
    exchange.originHeaders = forAnyPage ? ANY_ORIGIN : origins.headersFor(exchange.fields.origin);
    checkFraming(exchange);
    if (!isProbe) {
      if (exchange.cameWhileDraining) throw new GatewayError('draining');
      checkHost(exchange);
      if (!forAnyPage) checkOrigin(exchange);
    }
    // A body on a GET has no meaning, and can smuggle a request past a proxy (RFC 9110, section 9.3.1). An unknown path and
    // a wrong method are reported first.
    if (exchange.hasBody && !takesBody && methods.length > 0) throw invalid('This request must not have a body.');
  };
}

function invalid(detail: string): GatewayError {
  return new GatewayError('invalid_request', { detail });
}
