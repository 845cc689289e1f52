import type { Config } from './config/schema/settings.ts';
import type { StoreFiles } from './credentials/store-files.ts';
import type { TlsFiles } from './credentials/tls-files.ts';
import type { RedisTls } from './fleet/client.ts';
import { type Fleet, joinFleet } from './fleet/fleet.ts';
import type { Events } from './observability/events.ts';

export interface ReplicasOptions {
  readonly events: Events;
  readonly files: StoreFiles;
  readonly tls: TlsFiles | undefined;
}

/** No load takes as long: so long a load that began before an eviction is known as one. */
const LEAST_GENERATION_MS = 600_000;

/** Joins the replicas with whom settings have something in common. */
export function joinReplicas(config: Config, { events, files, tls }: ReplicasOptions): Fleet | undefined {
  if (config.shared === undefined) return undefined;
  const longest = Math.max(...Object.values(config.upstreams).map(({ timeoutMs }) => timeoutMs));
  return joinFleet({
    ...config.shared,
    events,
    user: files.user,
    tls: tls && (() => identityNow(config.shared?.tls, tls)),
    generationMs: Math.max(2 * longest, LEAST_GENERATION_MS),
  });
}

type SharedTls = NonNullable<NonNullable<Config['shared']>['tls']>;

async function identityNow(settings: SharedTls | undefined, files: TlsFiles): Promise<RedisTls> {
  await files.check();
  const { cert, key, ca } = files.held;
  return {
    ...(cert && { cert }),
    ...(key && { key }),
    ...(ca && { ca }),
    ...(settings?.serverName !== undefined && { servername: settings.serverName }),
    minVersion: settings?.minVersion ?? 'TLSv1.2',
  };
}
