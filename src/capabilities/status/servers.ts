import type { Events } from '../../core/kernel/events.ts';

/** What the status tells of an upstream by its name. */
export interface NamedUpstream {
  readonly name: string;
  readonly breaker: string;
}

/** Knows of all that is asked, by what events tell: beside the upstreams in settings, servers that these depend on. */
export interface Servers {
  readonly opened: NonNullable<Events['upstreamOpened']>;
  readonly closed: NonNullable<Events['upstreamClosed']>;
  readonly breakerChanged: NonNullable<Events['breakerChanged']>;
  /** Those of other names, in the order in which they were opened. */
  beside(upstreams: readonly NamedUpstream[]): NamedUpstream[];
}

export function createServers(): Servers {
  const open = new Map<symbol | undefined, NamedUpstream>();
  return {
    opened: ({ upstream, opening }) => open.set(opening, { name: upstream, breaker: 'closed' }),
    closed: ({ opening }) => open.delete(opening),
    breakerChanged({ upstream, opening, state }) {
      if (open.has(opening)) open.set(opening, { name: upstream, breaker: state });
    },
    beside(upstreams) {
      const known = new Set(upstreams.map(({ name }) => name));
      const byName = new Map([...open.values()].map((one) => [one.name, one]));
      return [...byName.values()].filter(({ name }) => !known.has(name));
    },
  };
}
