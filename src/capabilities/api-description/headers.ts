import { READ_VARY } from '../../core/http/operations/reads.ts';
import { ALWAYS, LOAD_NOTHING } from '../../core/http/response/send.ts';

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

const FOR_BROWSERS = new Map([['Content-Security-Policy', LOAD_NOTHING]]);
for (let index = 0; index < ALWAYS.length; index += 2) {
  FOR_BROWSERS.set(ALWAYS[index] as string, ALWAYS[index + 1] as string);
}
const BROWSERS = 'Keeps browsers from doing harm with what they are given.';

const CHALLENGE = text('^Bearer(?: [a-z_]+="[^"]*"(?:, [a-z_]+="[^"]*")*)?$');
const ABOUT_CHALLENGE =
  'What is asked for (RFC 6750, section 3). There is no error in it where no token came. Where clients can obtain one, scope says for what and resource_metadata where (RFC 9728).';

/** Every header, by its name; where two of one name differ, with what the second belongs to. */
export const HEADER_COMPONENTS: Readonly<Record<string, Header>> = {
  ...Object.fromEntries(FOR_BROWSERS.entries().map(([name, value]) => [name, always({ const: value }, BROWSERS)])),
  'Strict-Transport-Security': optional(
    text('^max-age=\\d+$'),
    'Has browsers come by TLS only (RFC 6797), where it ends here. Not on a loopback address.',
  ),
  'X-Request-Id': always(
    text('^[A-Za-z0-9._~:/+=@-]{1,128}$'),
    "Finds the request in Portico's log. The caller's own, if it is well-formed.",
  ),
  ETag: always(text('^W/"[\\w-]+"$'), 'Weak entity tag of the list, one for all codings. If-None-Match takes it.'),
  Vary: always(
    text(VARY_PATTERN),
    'What the answer depends on beside its target. Origin, where pages of other origins may read it.',
  ),
  'Vary-of-problems': optional(text(VARY_PATTERN), 'The same. It is not there where no request could be read.'),
  'Access-Control-Allow-Origin': optional(
    text('^\\w+://[^/]+$'),
    'The origin of the page that asks, where it is one of those that settings list.',
  ),
  'Access-Control-Expose-Headers': optional({ type: 'string' }, 'What such a page may read of these headers.'),
  'Cache-Control': always(
    text('^private, (?:no-cache|max-age=\\d+)$'),
    'How long the list is fresh: max-age, of which Age is used up.',
  ),
  'Cache-Control-of-problems': always({ const: 'no-store' }, 'A problem is never kept.'),
  Age: optional(whole(0), 'Seconds since the list was loaded. Absent where it was loaded for this very request.'),
  'Cache-Status': always(text('^portico; '), "What Portico's cache did (RFC 9211)."),
  'Content-Encoding': optional({ enum: ['zstd', 'gzip'] }, 'Absent where the body is sent as it is.'),
  'Portico-Dropped-Items': optional(
    whole(1),
    'Items that were left out because they could not be mapped, where settings have it so.',
  ),
  'WWW-Authenticate': always(CHALLENGE, ABOUT_CHALLENGE),
  'WWW-Authenticate-of-403': optional(CHALLENGE, ABOUT_CHALLENGE),
  'Retry-After': optional(whole(0), 'Seconds to wait before the next attempt.'),
  'RateLimit-Policy': optional(
    text('^"[a-z]+";q=\\d+;w=\\d+$'),
    'How many requests are answered in how many seconds (q, w), where settings limit them.',
  ),
  RateLimit: optional(
    text('^"[a-z]+";r=\\d+;t=\\d+$'),
    'How many of them remain (r), and in how many seconds there are all of them again (t).',
  ),
};

const FOR_PAGES = ['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers'];
const ON_ALL = [
  'X-Request-Id',
  'Strict-Transport-Security',
  'RateLimit-Policy',
  'RateLimit',
  ...FOR_BROWSERS.keys(),
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
