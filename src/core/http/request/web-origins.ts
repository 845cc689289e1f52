import { corsHeaders, VARY_ORIGIN } from '../response/cors.ts';

/** The web origins that settings list. */
export interface Origins {
  has(origin: string): boolean;
  /** What every response to a request of this origin, or of none, says of origins; `undefined`: nothing. */
  headersFor(origin: string | undefined): readonly string[] | undefined;
}

export function createOrigins(allowedOrigins: readonly string[]): Origins {
  const headers = new Map(
    allowedOrigins.map((allowed) => {
      const { origin } = new URL(allowed);
      return [origin, corsHeaders(origin)];
    }),
  );
  const others = headers.size === 0 ? undefined : VARY_ORIGIN;
  return {
    has: (origin) => headers.has(origin),
    headersFor: (origin) => (origin === undefined ? others : (headers.get(origin) ?? others)),
  };
}

/**
 * Whether a page of this origin came by this host. Where TLS ends here, `isSecure`, it is one of `https:`. Else only the
 * default port of its scheme counts: where something in front ends TLS, a page is of `https:`, and Portico is asked over
 * `http:`.
 */
export function isSameOrigin(origin: string, host: string, isSecure = false): boolean {
  const page = URL.parse(origin);
  if (page === null || page.origin !== origin || !(isSecure ? /^https:$/ : /^https?:$/).test(page.protocol))
    return false;
  return URL.parse(`${page.protocol}//${host}`)?.host === page.host;
}
