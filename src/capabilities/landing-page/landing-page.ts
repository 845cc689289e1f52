import type { GatewayState } from '../../core/hooks.ts';
import type { HttpRequest } from '../../core/http/http-request.ts';
import { type Operation, openOperation, UNKNOWN_PATH } from '../../core/http/operations/operation.ts';
import { type HtmlPage, loadPage } from '../../core/http/pages/html-page.ts';
import { isLoopbackHost } from '../../core/http/request/hosts.ts';
import { prefersHtml } from '../../core/http/request/negotiate.ts';
import { defineCapability } from '../capability.ts';

/** A page for a browser that opens the public address: the resources, and how a client connects. */
export const landingPage = defineCapability({
  open: () => ({ operations: (state) => [landingOperation(state)] }),
});

/** Hosts that can be part of a shell command. `Host` can hold more by its syntax, and a web page can choose it: `$(…)`. */
const PLAIN_HOST = /^(?:\w[\w.-]{0,252}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;

let page: HtmlPage | undefined;

/** Responds as an unknown path does to a request that does not prefer HTML. */
export function landingOperation({ config, offered, mcpPath, signsIn }: GatewayState): Operation {
  const resources = offered.map(({ definition: { uri, name, description } }) => ({ uri, name, description }));
  const data = { resources, mcp: mcpPath !== undefined, signsIn, firstUri: resources[0]?.uri };
  const respond = (request: HttpRequest) => {
    const address = config.publicUrl ?? originOf(request);
    if (address === undefined || !prefersHtml(request.req.headers)) {
      request.record.route = UNKNOWN_PATH.path;
      return UNKNOWN_PATH.respond(request);
    }
    page ??= loadPage(new URL('./landing-page.html', import.meta.url));
    return page({ ...data, address });
  };
  return openOperation('/', respond, { isPage: true, vary: 'Accept, Sec-Fetch-Mode' });
}

/**
 * Returns the origin that a browser used, as far as it is known. A browser sends `Sec-Fetch-Mode` only over TLS and to
 * loopback hosts (Fetch Metadata, section 2): elsewhere, it shows that a proxy in front ends TLS.
 */
function originOf({ req, host, isSecure }: HttpRequest): string | undefined {
  if (host === undefined || !PLAIN_HOST.test(host)) return undefined;
  const isBehindTls = req.headers['sec-fetch-mode'] !== undefined && !isLoopbackHost(host);
  return `${isSecure || isBehindTls ? 'https' : 'http'}://${host}`;
}
