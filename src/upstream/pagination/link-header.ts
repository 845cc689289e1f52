import LinkHeader from 'http-link-header';
import type { ReplyHeaders } from '../upstream.ts';
import { invalid } from './invalid.ts';

/** A parameter name of a link (RFC 8288, section 3). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;

/** The target of the one link with relation `rel`, as written; `undefined` where there is none. */
export function linkTo(rel: string, field: ReplyHeaders[string]): string | undefined {
  if (field === undefined) return undefined;
  // The parser trips over space before a comma, and is quadratic in runs of space.
  const text = [field]
    .flat()
    .join(',')
    .replace(/[ \t]+/g, ' ')
    .replaceAll(' ,', ',');
  const links = parse(text);
  if (!isBalanced(text) || !links.every(isWhole)) throw malformed();
  const targets = new Set(links.filter((link) => link.rel?.toLowerCase() === rel).map((link) => link.uri));
  if (targets.size > 1) throw invalid(`the Link header names several ${rel} pages`);
  return targets.values().next().value;
}

function parse(text: string): LinkHeader.Reference[] {
  try {
    return LinkHeader.parse(text).refs;
  } catch (cause) {
    throw malformed(cause);
  }
}

/** Whether every quote and bracket is in its place. The parser lets a stray one swallow what follows, a `rel` perhaps. */
function isBalanced(text: string): boolean {
  return !/["<>]/.test(text.replace(/"(?:[^"\\]|\\.)*"/g, '').replace(/(^|,) ?<[^<>]*>/g, ''));
}

/** Whether the parser read the link as it stands: it takes a parameter without a value and the next for one name. */
function isWhole(link: LinkHeader.Reference): boolean {
  return typeof link.uri === 'string' && Object.keys(link).every((name) => TOKEN.test(name));
}

function malformed(cause?: unknown): Error {
  return invalid('the Link header is malformed', cause);
}
