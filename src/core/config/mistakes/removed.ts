import { LIMIT_ROWS, type Limits } from '../../kernel/limits.ts';

/** Where settings had the bounds of each part. */
export const PLACES: Readonly<Record<keyof Limits, string>> = {
  http: 'http.',
  mcp: 'mcp.',
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

/** Keys that settings once had, and what holds now: ends the sentence "is no longer a setting: …". */
export const REMOVED: ReadonlyMap<string, string> = new Map([
  ...LIMIT_ROWS.map(
    ({ part, name, value }) => [`${PLACES[part]}${name}`, `${value} always holds (docs/limits.md)`] as const,
  ),
  ['shared.maxInFlight', 'commands are bounded by the client of Redis'],
  ['shared.maxInFlightBytes', 'commands are bounded by the client of Redis'],
  ['upstreams.<name>.breaker', 'the same breaker protects every upstream (docs/limits.md)'],
]);

/** What holds in place of the key of a block at `path`, where settings once had that key. */
export function removedKey(path: readonly PropertyKey[], key: string): string | undefined {
  const names = path.map((step, index) =>
    index === 1 && /^(?:upstreams|resources)$/.test(String(path[0])) ? '<name>' : step,
  );
  return REMOVED.get([...names, key].join('.'));
}
