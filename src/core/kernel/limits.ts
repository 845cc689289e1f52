/** Its value, in the unit that ends its name; what it bounds, and what happens beyond it. */
type Row = readonly [value: number, meaning: string];

const KIB = 1024;
const MIB = 1024 * KIB;

/** Every bound that is not worth tuning; others are settings. `docs/reference.md` is generated from it. */
const TABLE = {
  http: {
    maxUrlBytes: [8 * KIB, 'Length of a request target. Beyond: 414.'],
    maxHeaderBytes: [16 * KIB, 'All headers of a request. Beyond: 431.'],
    headersTimeoutMs: [10_000, 'Time in which a client sends its headers and completes a TLS handshake. Beyond: 408.'],
    requestTimeoutMs: [15_000, 'Time in which a client sends a whole request. Beyond: 408.'],
    sendTimeoutMs: [30_000, 'Time in which a client reads no byte of a response. Beyond: the connection is closed.'],
    maxPipelinedWaiting: [
      1024,
      'Pipelined requests that wait for the ones before them, of all connections. Beyond: the connection is closed.',
    ],
    maxHeldBodyBytes: [
      32 * MIB,
      'Request bodies in memory, of all connections. Beyond: 503. Unverified callers of one address use half.',
    ],
    maxEventLoopDelayMs: [500, 'Delay of the event loop, several times in a row. Beyond: reads and MCP are 503.'],
    maxUnsentBytes: [
      128 * MIB,
      'Unread responses of all connections. Beyond: the connections of the oldest are closed.',
    ],
    compressMinBytes: [KIB, 'Smallest response that is compressed: below, compression saves no packet.'],
    maxCompressions: [
      2,
      'Responses that are compressed at once: half of the threads of libuv. Beyond: responses are not compressed.',
    ],
  },
  mcp: {
    maxBodyBytes: [MIB, 'Size of a message of a client. Beyond: 413.'],
    maxMessageValues: [10_000, 'Objects, lists and members of a message. Beyond: 413.'],
    maxEscapingBytes: [64 * MIB, 'Long lists that are escaped into responses at once; one always is. Beyond: 503.'],
    keepAliveMs: [15_000, 'Time after which a comment is sent over a stream.'],
    maxSearches: [4, 'Lists that tools search at once, one for each caller. Beyond: they wait; addresses take turns.'],
    maxWaitingSearches: [
      1024,
      'Searches of tools that run or wait. Beyond: 503. Unverified callers of one address use half.',
    ],
    maxWaitingSearchesPerCaller: [128, 'The same for one access token. Beyond: 503.'],
  },
  subscriptions: {
    maxSubscriptions: [
      1024,
      'Subscriptions of all callers, or half of the connections where that is less. Beyond: 503. Unverified callers of one address use half.',
    ],
    maxPerCaller: [64, 'The same for one access token. Beyond: 503.'],
    maxMs: [3_600_000, 'Time for which a subscription over HTTP is open. Then its client has to subscribe again.'],
    pollMs: [
      60_000,
      'Interval in which a list that is not stored is read for subscribers. It doubles with each failure.',
    ],
    minPollMs: [1000, 'Shortest interval for a stored list, which is read when it is no longer fresh.'],
    maxPollMs: [600_000, 'Longest interval after failures.'],
    maxPolls: [8, 'Callers for whom one resource is read at once. Beyond: they wait.'],
  },
  limits: {
    maxKeys: [10_000, 'Callers and addresses that are counted at once. Beyond: the oldest one starts again.'],
  },
  tracing: {
    intervalMs: [5000, 'Time after which spans are sent, also in a batch that is not full.'],
    maxQueueSpans: [2048, 'Spans that wait for the collector. Beyond: dropped.'],
  },
  reads: {
    maxWaiting: [16_384, 'Reads that wait for upstreams. Beyond: 503. Unverified callers of one address use half.'],
    maxWaitingPerCaller: [2048, 'The same for one access token. Beyond: 503.'],
    maxLoadingBytes: [
      128 * MIB,
      'Pages of all reads that are loaded at once, before and after decompression. In proportion more where maxPageBytes is 128 MiB or more at the start. Beyond: 503; by one read alone: 502.',
    ],
    maxCompared: [
      3000,
      'Lists, of all callers, that are compared with later ones. Beyond: the least recent one is forgotten.',
    ],
  },
  cache: {
    maxEntries: [
      20_000,
      'Stored lists. In proportion more where cache.maxBytes is above 128 MiB. Beyond: the oldest is evicted.',
    ],
  },
  shared: {
    timeoutMs: [50, 'Time in which Redis responds. Beyond: the read continues without Redis.'],
    connectTimeoutMs: [2000, 'Time in which a connection to Redis opens. Beyond: it is tried again.'],
    maxValueBytes: [MIB, 'Size of a shared list, compressed and sealed. Beyond: each replica loads it.'],
  },
  verification: {
    timeoutMs: [5000, 'Time in which the issuer responds. Beyond: 503 where no earlier keys are valid.'],
    leewayMs: [5000, 'Difference between clocks at the start and end of a token. Beyond: 401.'],
    rememberRejectedMs: [5000, 'Time for which a rejected token is rejected without another check.'],
    maxRemembered: [10_000, 'Verified and rejected tokens that are kept. Beyond: the least recently used is evicted.'],
    maxVerifying: [1024, 'Tokens that wait for introspection. Beyond: 503.'],
  },
  issuerKeys: {
    refreshMs: [600_000, 'Age at which keys are fetched again. At twice this age they are no longer used: 503.'],
    cooldownMs: [5000, 'Time between two fetches of keys, also for a token with an unknown key.'],
    maxBytes: [128 * KIB, 'Size of a response of the issuer. Beyond: it is not used.'],
  },
  upstream: {
    connectTimeoutMs: [2000, 'Time in which a connection opens, with proxy and TLS. Beyond: the request is retried.'],
    maxQueue: [1024, 'Requests that wait for a connection. Beyond: 503. Unverified callers of one address use half.'],
    rememberRejectedMs: [5000, 'Time for which a token that the upstream rejected (401) is not sent to it again.'],
  },
  breaker: {
    windowMs: [10_000, 'Window in which the breaker of an upstream counts requests.'],
  },
  retry: {
    baseDelayMs: [50, 'Longest random delay of the first retry. It doubles with each one.'],
    maxDelayMs: [1000, 'Longest delay of a retry. A request with a longer Retry-After is not retried.'],
    budgetPercent: [20, 'Retries per hundred requests, beside 3 at once and 3 in 10 seconds. Beyond: no retries.'],
  },
  exchange: {
    timeoutMs: [5000, 'Time in which the authorization server responds. Beyond: 504.'],
    maxAgeMs: [3_600_000, 'Time for which an exchanged token is used, also where it is valid for longer.'],
    maxKeptBytes: [32 * MIB, 'Exchanged tokens, each with 512 bytes more. Beyond: the least recently used is evicted.'],
  },
  resource: {
    maxPages: [10_000, 'Pages of one read. Beyond: 502.'],
    maxPageValues: [
      250_000,
      'Objects, lists and members of one page, a tenth of them in one object. In proportion more where maxPageBytes is above 2 MiB. Beyond: 502.',
    ],
    maxNextBytes: [4 * KIB, 'Length of a page token or a link to a next page. Beyond: 502.'],
  },
  lifetime: {
    minRefreshMs: [5000, 'Age of a stored list until which Cache-Control: no-cache does not load it again.'],
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Row>>>>;

type Table = typeof TABLE;

export type Limits = {
  readonly [Part in keyof Table]: { readonly [Name in keyof Table[Part]]: number };
};

/** Overrides for tests, which reach small bounds sooner. */
export type LimitOverrides = { readonly [Part in keyof Limits]?: Partial<Limits[Part]> };

export const LIMIT_ROWS = Object.entries(TABLE).flatMap(([part, rows]) =>
  Object.entries(rows).map(([name, [value, meaning]]) => ({ part: part as keyof Limits, name, value, meaning })),
);

export function limitsWith(overrides: LimitOverrides = {}): Limits {
  const parts = Map.groupBy(LIMIT_ROWS, ({ part }) => part);
  return Object.fromEntries(
    [...parts].map(([part, rows]) => {
      const values = rows.map(({ name, value }) => [name, value]);
      return [part, { ...Object.fromEntries(values), ...overrides[part] }];
    }),
  ) as Limits;
}
