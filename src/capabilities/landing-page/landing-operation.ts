import { TLSSocket } from 'node:tls';
import type { Exchange } from '../../core/http/exchange.ts';
import type { OpenOperation } from '../../core/http/operations/operation.ts';
import { LANDING_STYLE, pagePolicy } from '../../core/http/pages/style.ts';
import { isLoopbackHost } from '../../core/http/request/hosts.ts';
import { prefersHtml } from '../../core/http/request/negotiate.ts';
import { createLandingPage, type LandingPageOptions } from './landing-page.ts';

const POLICY = pagePolicy(LANDING_STYLE);

/**
 * Hosts that stand in a line for a shell: names of DNS and addresses, with a port. What else `Host` may hold by its syntax
 * no server has for a name, and a web page could have made it up: `$(…)`, for one.
 */
const PLAIN_HOST = /^(?:\w[\w.-]{0,252}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;

export interface LandingOptions extends LandingPageOptions {
  /** Where clients find this server. @default wherever the browser says that it found it */
  readonly publicUrl?: string | undefined;
  /** What is asked for here by whoever is no browser. */
  readonly nowhere: OpenOperation;
}

/** A page for a browser that lands here. For whoever does not ask as one, nothing lives at its path. */
export function landingOperation({ publicUrl, nowhere, ...options }: LandingOptions): OpenOperation {
  const pageFor = createLandingPage(options);
  return {
    path: '/',
    methods: ['GET', 'HEAD'],
    takesBody: false,
    isProbe: false,
    isPage: true,
    vary: 'Accept, Sec-Fetch-Mode',
    open: true,
    respond(exchange) {
      const address = publicUrl ?? originOf(exchange);
      if (address === undefined || !prefersHtml(exchange.fields)) {
        exchange.route = nowhere.path;
        return nowhere.respond(exchange);
      }
      return {
        status: 200,
        headers: ['Content-Type', 'text/html; charset=utf-8', 'Cache-Control', 'no-store'],
        body: Buffer.from(pageFor(address)),
        policy: POLICY,
      };
    },
  };
}

/**
 * The origin by which a browser came here, as far as it can be told. A browser sends `Sec-Fetch-Mode` to secure places
 * only, which are those of TLS and of this machine (Fetch Metadata, section 2): so there is something with TLS in front,
 * where TLS does not end here.
 */
function originOf({ req, target, fields }: Exchange): string | undefined {
  const host = target?.authority ?? fields.host[0];
  if (host === undefined || !PLAIN_HOST.test(host)) return undefined;
  const isBehindTls = req.headers['sec-fetch-mode'] !== undefined && !isLoopbackHost(host);
  const isSecure = req.socket instanceof TLSSocket || isBehindTls;
  return `${isSecure ? 'https' : 'http'}://${host}`;
}
