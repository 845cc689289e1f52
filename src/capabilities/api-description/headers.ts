import { READ_VARY } from '../../core/http/operations/reads.ts';

/** Beside what every read goes by: headers in which callers bring credentials, and `Origin`. */
const VARY_PATTERN = `^${READ_VARY.join(', ')}(?:, [^ ,]+)*$`;

interface Header {
  readonly description: string;
  /** Whether every response has it that refers to it. */
  readonly required: boolean;
  readonly schema: object;
}

const optional = (schema: object, description: string): Header => ({ description, required: false, schema });
const always = (schema: object, description: string): Header => ({ description, required: true, schema });
const text = (pattern: string) => ({ type: 'string', pattern });
const whole = (minimum: number) => ({ type: 'integer', minimum });

const CHALLENGE = text('^Bearer(?: [a-z_]+="[^"]*"(?:, [a-z_]+="[^"]*")*)?$');
const ABOUT_CHALLENGE =
  'Challenge (RFC 6750, section 3), without error if the request had no token. scope and resource_metadata show how clients can obtain one (RFC 9728).';

/** Every header, by its name; where two of one name differ, with what the second belongs to. */
export const HEADER_COMPONENTS: Readonly<Record<string, Header>> = {
  'X-Content-Type-Options': always({ const: 'nosniff' }, 'Browsers take the media type as it is.'),
  'Strict-Transport-Security': optional(
    text('^max-age=\\d+$'),
    'HTTP Strict Transport Security (RFC 6797), if Portico terminates TLS. Not on a loopback address.',
  ),
  'X-Request-Id': always(
    text('^[A-Za-z0-9._~:/+=@-]{1,128}$'),
    "Finds the request in Portico's log. The caller's own, if it is well-formed.",
  ),
  ETag: always(text('^W/"[\\w-]+"$'), 'Weak entity tag of the list, the same for all codings, for If-None-Match.'),
  Vary: always(
    text(VARY_PATTERN),
    'Request headers that select the response. Includes Origin if pages of other origins may read it.',
  ),
  'Vary-of-problems': optional(
    text(VARY_PATTERN),
    'Request headers that select the response. Absent if no request could be read.',
  ),
  'Access-Control-Allow-Origin': optional(text('^\\w+://[^/]+$'), 'Origin of the page, if settings list it.'),
  'Access-Control-Expose-Headers': optional({ type: 'string' }, 'Headers that such a page may read.'),
  'Cache-Control': always(text('^private, (?:no-cache|max-age=\\d+)$'), 'Lifetime of the list: max-age, minus Age.'),
  'Cache-Control-of-problems': always({ const: 'no-store' }, 'Problems are not stored.'),
  Age: optional(whole(0), 'Seconds since the list was loaded. Absent if it was loaded for this request.'),
  'Cache-Status': always(text('^portico; '), "What Portico's cache did (RFC 9211)."),
  'Content-Encoding': optional({ enum: ['gzip'] }, 'Absent if the body is not compressed.'),
  'Portico-Dropped-Items': optional(
    whole(1),
    'Number of items that were dropped because they could not be mapped (invalidItems: drop).',
  ),
  'WWW-Authenticate': always(CHALLENGE, ABOUT_CHALLENGE),
  'WWW-Authenticate-of-403': optional(CHALLENGE, ABOUT_CHALLENGE),
  'Retry-After': optional(whole(0), 'Seconds to wait before the next attempt.'),
  'RateLimit-Policy': optional(
    text('^"[a-z]+";q=\\d+;w=\\d+$'),
    'Quota (q) and window in seconds (w) of each rate limit.',
  ),
  RateLimit: optional(
    text('^"[a-z]+";r=\\d+;t=\\d+$'),
    'Remaining requests (r) and seconds until the quota is restored (t).',
  ),
};

const FOR_PAGES = ['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers'];
const ON_ALL = [
  'X-Request-Id',
  'Strict-Transport-Security',
  'RateLimit-Policy',
  'RateLimit',
  'X-Content-Type-Options',
  ...FOR_PAGES,
];
const ON_LISTS = [...ON_ALL, 'ETag', 'Vary', 'Cache-Control'];

export const HEADERS = {
  list: ON_LISTS,
  read: [...ON_LISTS, 'Age', 'Cache-Status', 'Portico-Dropped-Items'],
  problem: [...ON_ALL, 'Vary-of-problems', 'Cache-Control-of-problems'],
} as const;

export function headersOf(components: readonly string[]): Record<string, object> {
  return Object.fromEntries(
    components.map((name) => [name.replace(/-of-.*$/, ''), { $ref: `#/components/headers/${name}` }]),
  );
}
