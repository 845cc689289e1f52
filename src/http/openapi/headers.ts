import { VARY } from '../response/cache-headers.ts';
import { ALWAYS, LOAD_NOTHING } from '../response/send.ts';

/** A header as OpenAPI describes it. */
interface Header {
  readonly description: string;
  /** Whether every response has it that refers to it. */
  readonly required: boolean;
  readonly schema: object;
}

const BROWSERS = 'Keeps browsers from doing harm with what they are given.';

/** Headers that every response has. */
const ON_ALL: Readonly<Record<string, Header>> = {
  'X-Request-Id': {
    description: "Finds the request in Portico's log. The caller's own, if it is well-formed.",
    required: true,
    schema: { type: 'string', pattern: '^[A-Za-z0-9._~:/+=@-]{1,128}$' },
  },
  'Content-Security-Policy': { description: BROWSERS, required: true, schema: { const: LOAD_NOTHING } },
  ...Object.fromEntries(
    ALWAYS.flatMap((name, index) =>
      index % 2 === 0 ? [[name, { description: BROWSERS, required: true, schema: { const: ALWAYS[index + 1] } }]] : [],
    ),
  ),
};

/** Headers that tell how old a list is, and whether a client may keep it. */
const ON_LISTS: Readonly<Record<string, Header>> = {
  ETag: {
    description: 'Weak entity tag of the list, one for all codings. If-None-Match takes it.',
    required: true,
    schema: { type: 'string', pattern: '^W/"[\\w-]+"$' },
  },
  Vary: { description: 'What the answer depends on beside its target.', required: true, schema: { const: VARY } },
  'Cache-Control': {
    description: 'How long the list is fresh: max-age, of which Age is used up.',
    required: true,
    schema: { type: 'string', pattern: '^private, (?:no-cache|max-age=\\d+)$' },
  },
};

/** Headers of lists that come from a platform. */
const ON_READS: Readonly<Record<string, Header>> = {
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
  'Portico-Dropped-Items': {
    description: 'Items that were left out because they could not be mapped, where settings have it so.',
    required: false,
    schema: { type: 'integer', minimum: 1 },
  },
};

const ON_BODIES: Readonly<Record<string, Header>> = {
  'Content-Encoding': {
    description: 'Absent where the body is sent as it is.',
    required: false,
    schema: { enum: ['zstd', 'gzip'] },
  },
};

const ON_PROBLEMS: Readonly<Record<string, Header>> = {
  'Cache-Control': { description: 'A problem is never kept.', required: true, schema: { const: 'no-store' } },
};

/** The challenge of a 401, and of a 403 for which there is another scope to ask for. */
const challenge = (required: boolean): Readonly<Record<string, Header>> => ({
  'WWW-Authenticate': {
    description: 'What is asked for (RFC 6750, section 3). There is no error in it where no token came.',
    required,
    schema: { type: 'string', pattern: '^Bearer' },
  },
});

const RETRY_AFTER: Readonly<Record<string, Header>> = {
  'Retry-After': {
    description: 'Seconds to wait before the next attempt.',
    required: false,
    schema: { type: 'integer', minimum: 0 },
  },
};

/** Headers by what brings them. */
export const HEADERS = {
  list: { ...ON_ALL, ...ON_LISTS },
  read: { ...ON_ALL, ...ON_LISTS, ...ON_READS },
  body: ON_BODIES,
  problem: { ...ON_ALL, ...ON_PROBLEMS },
  unauthorized: challenge(true),
  forbidden: challenge(false),
  retryAfter: RETRY_AFTER,
} as const;
