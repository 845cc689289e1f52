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

const BROWSERS = 'Keeps browsers from doing harm with what they are given.';

/** Headers that every response has, for browsers, with the one value of each. */
const FOR_BROWSERS = new Map([['Content-Security-Policy', LOAD_NOTHING]]);
for (let index = 0; index < ALWAYS.length; index += 2) {
  FOR_BROWSERS.set(ALWAYS[index] as string, ALWAYS[index + 1] as string);
}

const CHALLENGE = {
  description:
    'What is asked for (RFC 6750, section 3). There is no error in it where no token came. Where clients can obtain one, scope says for what and resource_metadata where (RFC 9728).',
  schema: { type: 'string', pattern: '^Bearer(?: [a-z_]+="[^"]*"(?:, [a-z_]+="[^"]*")*)?$' },
};

/** Every header, by its name; where two of one name differ, with what the second belongs to. */
export const HEADER_COMPONENTS: Readonly<Record<string, Header>> = {
  ...Object.fromEntries(
    FOR_BROWSERS.entries().map(([name, value]) => [
      name,
      { description: BROWSERS, required: true, schema: { const: value } },
    ]),
  ),
  'Strict-Transport-Security': {
    description: 'Has browsers come by TLS only (RFC 6797), where it ends here. Not on a loopback address.',
    required: false,
    schema: { type: 'string', pattern: '^max-age=\\d+$' },
  },
  'X-Request-Id': {
    description: "Finds the request in Portico's log. The caller's own, if it is well-formed.",
    required: true,
    schema: { type: 'string', pattern: '^[A-Za-z0-9._~:/+=@-]{1,128}$' },
  },
  ETag: {
    description: 'Weak entity tag of the list, one for all codings. If-None-Match takes it.',
    required: true,
    schema: { type: 'string', pattern: '^W/"[\\w-]+"$' },
  },
  Vary: {
    description: 'What the answer depends on beside its target. Origin, where pages of other origins may read it.',
    required: true,
    schema: { type: 'string', pattern: VARY_PATTERN },
  },
  'Vary-of-problems': {
    description: 'The same. It is not there where no request could be read.',
    required: false,
    schema: { type: 'string', pattern: VARY_PATTERN },
  },
  'Access-Control-Allow-Origin': {
    description: 'The origin of the page that asks, where it is one of those that settings list.',
    required: false,
    schema: { type: 'string', pattern: '^\\w+://[^/]+$' },
  },
  'Access-Control-Expose-Headers': {
    description: 'What such a page may read of these headers.',
    required: false,
    schema: { type: 'string' },
  },
  'Cache-Control': {
    description: 'How long the list is fresh: max-age, of which Age is used up.',
    required: true,
    schema: { type: 'string', pattern: '^private, (?:no-cache|max-age=\\d+)$' },
  },
  'Cache-Control-of-problems': {
    description: 'A problem is never kept.',
    required: true,
    schema: { const: 'no-store' },
  },
  Age: {
    description: 'Seconds since the list was loaded. Absent where it was loaded for this very request.',
    required: false,
    schema: { type: 'integer', minimum: 0 },
  },
  'Cache-Status': {
    description: "What Portico's cache did (RFC 9211).",
    required: true,
    schema: { type: 'string', pattern: '^portico; ' },
  },
  'Content-Encoding': {
    description: 'Absent where the body is sent as it is.',
    required: false,
    schema: { enum: ['zstd', 'gzip'] },
  },
  'Portico-Dropped-Items': {
    description: 'Items that were left out because they could not be mapped, where settings have it so.',
    required: false,
    schema: { type: 'integer', minimum: 1 },
  },
  'WWW-Authenticate': { ...CHALLENGE, required: true },
  'WWW-Authenticate-of-403': { ...CHALLENGE, required: false },
  'Retry-After': {
    description: 'Seconds to wait before the next attempt.',
    required: false,
    schema: { type: 'integer', minimum: 0 },
  },
  'RateLimit-Policy': {
    description: 'How many requests are answered in how many seconds (q, w), where settings limit them.',
    required: false,
    schema: { type: 'string', pattern: '^"[a-z]+";q=\\d+;w=\\d+$' },
  },
  RateLimit: {
    description: 'How many of them remain (r), and in how many seconds there are all of them again (t).',
    required: false,
    schema: { type: 'string', pattern: '^"[a-z]+";r=\\d+;t=\\d+$' },
  },
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

/** Names of the components by what brings the headers. */
export const HEADERS = {
  list: ON_LISTS,
  read: [...ON_LISTS, 'Age', 'Cache-Status', 'Portico-Dropped-Items'],
  body: ['Content-Encoding'],
  problem: [...ON_ALL, 'Vary-of-problems', 'Cache-Control-of-problems'],
  unauthorized: ['WWW-Authenticate'],
  forbidden: ['WWW-Authenticate-of-403'],
  retryAfter: ['Retry-After'],
} as const;

export function headersOf(components: readonly string[]): Record<string, object> {
  return Object.fromEntries(
    components.map((name) => [name.replace(/-of-.*$/, ''), { $ref: `#/components/headers/${name}` }]),
  );
}
