import type { Config } from '../../core/config/schema/settings.ts';
import type { TlsFiles } from '../../core/credentials/files/tls-files.ts';
import type { Events } from '../../core/kernel/events.ts';
import type { SharedCounts } from '../../core/kernel/shared-counts.ts';
import type { OwnFiles } from '../../core/own-files.ts';
import type { SharedParts } from '../../core/reads/holdings.ts';
import { createDeploymentSecret, type DeploymentSecret } from './deployment-secret.ts';
import type { RedisTls } from './redis/client.ts';
import { type Fleet, joinFleet } from './redis/fleet.ts';
import { createSharedRejections, type SharedRejections } from './shared-rejections.ts';
import type { StoreFiles } from './store-files.ts';

export interface ReplicasOptions {
  readonly events: Events;
  readonly files: OwnFiles;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** What this process has in common with the other replicas of its deployment. */
export interface Replicas extends Pick<Fleet, 'isUp' | 'open' | 'close'> {
  readonly snapshots: SharedParts;
  /** `undefined` where each replica counts by itself. */
  readonly counts: SharedCounts | undefined;
  readonly rejections: SharedRejections;
}

/** Joins those with whom settings share something; `undefined` where they share nothing, or a file cannot be used. */
export function joinReplicas(config: Config, { events, files, now }: ReplicasOptions): Replicas | undefined {
  const { shared } = config;
  const own = files.storeFiles(config);
  const tlsFiles = files.storeTls(config);
  if (shared === undefined || own === undefined) return undefined;
  const fleet = joinFleet({
    ...shared,
    events,
    user: own.user,
    tls: tlsFiles && (() => identityNow(shared.tls, tlsFiles)),
  });
  const secrets = secretsOf(own);
  const { leaseMs, waitMs, maxValueBytes } = shared;
  return {
    get isUp() {
      return fleet.isUp;
    },
    open: fleet.open,
    close: fleet.close,
    snapshots: { store: fleet.store, secrets, leaseMs, waitMs, maxValueBytes },
    counts: shared.limits ? { ...fleet.counts, nameOf: secrets[0].keyOf } : undefined,
    rejections: createSharedRejections({ store: fleet.rejections, secrets, events, now }),
  };
}

function secretsOf({ secrets: [current, ...before] }: StoreFiles): readonly [DeploymentSecret, ...DeploymentSecret[]] {
  return [createDeploymentSecret(current), ...before.map(createDeploymentSecret)];
}

type SharedTls = NonNullable<Config['shared']>['tls'];

/** What is shown and believed now. */
async function identityNow(settings: SharedTls, files: TlsFiles): Promise<RedisTls> {
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
