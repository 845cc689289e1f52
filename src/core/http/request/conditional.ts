/** One member of a list of entity tags (RFC 9110, section 8.8.3). A tag may hold a comma. */
const MEMBER = /[\t ]*(?:(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")[\t ]*)?(?:,|$)/y;

const NO_CACHE = /(?:^|,)[\t ]*no-cache[\t ]*(?:,|$)/i;

/**
 * Whether an `If-None-Match` names this entity tag, by weak comparison (RFC 9110, sections 8.8.3.2 and 13.1.2). A
 * value that is no list of tags names none. What `Cache-Control` says beside it does not matter: Node's `fetch` sends
 * `no-cache` along with it.
 */
export function namesTag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag || ifNoneMatch.trim() === '*') return true;
  const opaque = etag.replace(/^W\//, '');
  let named = false;
  MEMBER.lastIndex = 0;
  while (MEMBER.lastIndex < ifNoneMatch.length) {
    const member = MEMBER.exec(ifNoneMatch);
    if (member === null) return false;
    named ||= member[1] === opaque;
  }
  return named;
}

/** Whether a request's `Cache-Control` asks for the upstream to be asked (RFC 9111, section 5.2.1.4). */
export function forbidsCache(cacheControl: string | undefined): boolean {
  return cacheControl !== undefined && NO_CACHE.test(cacheControl);
}
