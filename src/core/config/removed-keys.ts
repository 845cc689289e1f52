import { LIMIT_ROWS, type Limits } from '../kernel/limits.ts';

/** Where settings had the bounds of each part. */
export const PLACES: Readonly<Record<keyof Limits, string>> = {
  http: 'http.',
  tls: 'http.tls.',
  mcp: 'mcp.',
  subscriptions: 'subscriptions.',
  limits: 'limits.',
  tracing: 'tracing.',
  reads: '',
  cache: 'cache.',
  shared: 'shared.',
  verification: 'verification.',
  issuerKeys: 'verification.keys.',
  upstream: 'upstreams.<name>.',
  breaker: 'upstreams.<name>.breaker.',
  retry: 'upstreams.<name>.retry.',
  exchange: 'upstreams.<name>.credential.',
  resource: 'resources.<name>.',
  lifetime: 'resources.<name>.cache.',
};

const TLS = 'TLS 1.2 or newer; NODE_OPTIONS=--tls-min-v1.3 makes it 1.3';

/** Keys that settings once had, and what holds now. */
export const REMOVED: ReadonlyMap<string, string> = new Map([
  ...LIMIT_ROWS.map(
    ({ part, name, value }) => [`${PLACES[part]}${name}`, `${value} always holds (docs/limits.md)`] as const,
  ),
  ['http.maxPipelined', 'requests of one connection are answered one after the other'],
  ['http.maxConnectionUnsentBytes', 'each connection has one unread response at most'],
  ['shared.maxInFlight', 'commands are bounded by the client of Redis'],
  ['shared.maxInFlightBytes', 'commands are bounded by the client of Redis'],
  ...['http', 'admin', 'shared', 'upstreams.<name>', 'upstreams.<name>.credential'].map(
    (place) => [`${place}.tls.minVersion`, TLS] as const,
  ),
  ...['http', 'admin'].map(
    (place) => [`${place}.tls.clientCertificate`, 'with clientCaFile, every client needs a certificate'] as const,
  ),
  ['mcp.stdio', 'portico stdio and check --probe read the access token from the environment variable PORTICO_TOKEN'],
  ['shared.limits', 'replicas always count requests for limits together'],
  ['verification.keys.maxKeys', 'the number of keys is not limited'],
  ['verification.algorithms', 'every asymmetric algorithm that the key of the issuer allows is accepted'],
  [
    'upstreams.<name>.credential.client.rsaAlgorithm',
    'an RSA key signs with RS256; use a P-256 key where PS256 was needed',
  ],
  ['upstreams.<name>.breaker', 'the same breaker protects every upstream (docs/limits.md)'],
]);

/** What holds in place of the key of a block at `path`, where settings once had that key. */
export function removedKey(path: readonly PropertyKey[], key: string): string | undefined {
  const names = path.map((step, index) =>
    index === 1 && /^(?:upstreams|resources)$/.test(String(path[0])) ? '<name>' : step,
  );
  return REMOVED.get([...names, key].join('.'));
}
