import type { LoadedResource } from './callers.ts';
import { PAGE_SIZE } from './truth.ts';

/** How long snapshots serve under load, so short that each stage comes about many times. */
export const LIFETIME = { ttlMs: 1000, staleWhileRevalidateMs: 1000, staleIfErrorMs: 3000, minRefreshMs: 300 };

export const TIMEOUT_MS = 800;

/**
 * Less than all snapshots together would take, so that some are let go of all the time; and little of what was made before, so
 * that they are full from the first seconds on, and what grows after that is no cache.
 */
const CACHE = { maxBytes: 1_800_000, maxEntries: 380 };

/** The upstream of each resource, in its settings. Two share one, so that a 401 to one of them speaks of both. */
export const UPSTREAM_OF = { projects: 'people', workflows: 'installed', tools: 'installed' } as const satisfies Record<
  LoadedResource,
  string
>;

type UpstreamName = (typeof UPSTREAM_OF)[LoadedResource];

/** Settings of the process under load: everything short and small. */
export function loadSettings(urls: Readonly<Record<UpstreamName, string>>): string {
  const upstream = (baseUrl: string) => ({
    baseUrl,
    timeoutMs: TIMEOUT_MS,
    connections: 64,
    maxQueue: 250,
    rememberRejectedMs: 200,
    breaker: { failurePercent: 50, minimumCalls: 5, windowMs: 200, openMs: 100 },
    retry: { attempts: 2, baseDelayMs: 5, maxDelayMs: 50 },
  });
  const pagination = { kind: 'token', size: PAGE_SIZE };
  // YAML holds JSON.
  return JSON.stringify({
    http: { port: 0, compressMinBytes: 512 },
    admin: { enabled: false },
    cache: CACHE,
    upstreams: { people: upstream(urls.people), installed: upstream(urls.installed) },
    resources: {
      projects: { upstream: UPSTREAM_OF.projects, pagination },
      workflows: { upstream: UPSTREAM_OF.workflows, pagination, cache: LIFETIME },
      tools: { upstream: UPSTREAM_OF.tools, pagination, cache: LIFETIME },
    },
  });
}
