import { rename, writeFile } from 'node:fs/promises';
import { boundedSettings } from '../process/limits-of-process.ts';
import { startServing } from '../process/serving.ts';
import { startFlappingPlatform } from './flapping-platform.ts';

/** How long snapshots serve under load, so short that each stage comes about many times. */
const LIFETIME = { ttlMs: 1000, staleWhileRevalidateMs: 1000, staleIfErrorMs: 3000, minRefreshMs: 300 };

/** A Portico process in front of two flapping platforms, with everything short and small. */
export async function setScene(env: Record<string, string> = {}) {
  // Each begins with another fault, so that they do not fail alike.
  const platforms = [await startFlappingPlatform(0), await startFlappingPlatform(5)] as const;
  const pagination = { kind: 'token', size: 10 };
  /** Of each number, another timeout of one platform, and with it other connections. */
  const boundedBy = (number: number) => {
    const upstream = (baseUrl: string, timeoutMs: number) => ({
      ...{ baseUrl, timeoutMs, connections: 64, maxQueue: 250, rememberRejectedMs: 200 },
      breaker: { failurePercent: 50, minimumCalls: 5, windowMs: 200, openMs: 100 },
      retry: { attempts: 2, baseDelayMs: 5, maxDelayMs: 50 },
    });
    const settings = {
      http: { port: 0, compressMinBytes: 512 },
      admin: { enabled: false },
      // Less than all snapshots together would take, so that some are let go of all the time.
      cache: { maxBytes: 1_800_000, maxEntries: 380 },
      upstreams: {
        people: upstream(platforms[0].url, 800 + (number % 2)),
        installed: upstream(platforms[1].url, 800),
      },
      resources: {
        projects: { upstream: 'people', pagination },
        workflows: { upstream: 'installed', pagination, cache: LIFETIME },
        tools: { upstream: 'installed', pagination, cache: LIFETIME },
      },
    };
    return boundedSettings(JSON.stringify(settings), env);
  };
  const bounded = boundedBy(0);
  const portico = await startServing(bounded.yaml, bounded.env);
  return {
    portico,
    url: portico.url,
    /** Has all platforms flap, or again do what they should. They begin calm. */
    flap(flaps: boolean) {
      for (const platform of platforms) platform.flap(flaps);
    },
    /** Changes the settings file, which Portico reloads. */
    async change(number: number) {
      await writeFile(`${portico.file}.next`, boundedBy(number).yaml);
      await rename(`${portico.file}.next`, portico.file);
      portico.child.kill('SIGHUP');
    },
    /** How often each fault came about, all platforms together. */
    faults: () => ({ ...platforms[0].met, ...platforms[1].met }),
  };
}

export type Scene = Awaited<ReturnType<typeof setScene>>;
