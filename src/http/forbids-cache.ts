const NO_CACHE = /(?:^|,)[\t ]*no-cache[\t ]*(?:,|$)/i;

/** Whether a request's `Cache-Control` asks for the upstream to be asked (RFC 9111, section 5.2.1.4). */
export function forbidsCache(cacheControl: string | undefined): boolean {
  return cacheControl !== undefined && NO_CACHE.test(cacheControl);
}
