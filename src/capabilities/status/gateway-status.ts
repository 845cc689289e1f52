import { hostname } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { type CertificateFile, certificatesIn } from '../../core/certificates.ts';
import type { Config } from '../../core/config/schema/settings.ts';
import { settingsHash } from '../../core/config/settings-changes.ts';
import { countDescriptors, readDescriptorLimit } from '../../core/descriptors.ts';
import { watchEventLoop } from '../../core/kernel/event-loop.ts';
import type { Events } from '../../core/kernel/events.ts';
import { readVersion } from '../../core/kernel/version.ts';
import type { CapabilityContext } from '../capability.ts';
import { createHistory } from './recent-counts.ts';
import { createRequestStatus, resourceTroubles } from './request-status.ts';
import { createTroubles, type Trouble, troubleOf } from './troubles.ts';
import { createUpstreamStatus } from './upstream-status.ts';

/** The status of a gateway, as `/status` returns it. Times are in ISO 8601, counts those of ten minutes unless they say otherwise. */
export type Status = Awaited<ReturnType<ReturnType<typeof createGatewayStatus>['status']>>;

const LOOK_MS = 100;
const LATE_MS = 250;
const DAY_MS = 86_400_000;
const EXPIRING_DAYS = 14;
const ALMOST_EXPIRED_DAYS = 3;

/** Collects the status of a gateway from its events. Bounded by the names in settings. */
export function createGatewayStatus(context: CapabilityContext) {
  const { now, settingsFile = null, droppedLogLines = () => 0 } = context;
  let { config } = context;
  const time = () => new Date(now()).toISOString();
  const startedAt = time();
  let isDraining = false;
  let held = { entries: 0, bytes: 0 };
  let shared: { readonly isUp: boolean } | null = null;
  let stopWatching = () => {};
  const delays = createHistory(now);
  const connections = new Map<string, { readonly listener: string; readonly open: number; readonly max: number }>();
  const troubles = createTroubles(time);
  const requests = createRequestStatus(context, time);
  const upstreams = createUpstreamStatus(now, time, troubles.hold);

  const events: Events = {
    draining() {
      isDraining = true;
    },
    sharedStoreOpened() {
      shared = { isUp: false };
    },
    sharedStoreChanged({ isUp }) {
      shared = { isUp };
    },
    snapshotsHeld({ entries, bytes }) {
      held = { entries, bytes };
    },
    connectionsChanged({ listener, open, maxConnections: max }) {
      connections.set(listener, { listener, open, max });
    },
    listening() {
      stopWatching = watchEventLoop(LOOK_MS, delays.add);
    },
    drained: () => stopWatching(),
  };

  async function status() {
    const heap = getHeapStatistics();
    const resources = requests.resources(config);
    const { p95Ms } = delays.lastMinute();
    const all = [
      ...troubles.lasting(),
      ...resources.flatMap((resource) => [...resourceTroubles(resource)]),
      ...(p95Ms > LATE_MS
        ? [troubleOf('red', 'PorticoEventLoopLate', 'event loop', `p95 of its delay ${p95Ms} ms`)]
        : []),
      ...certificateTroubles(certificatesIn(config), now()),
    ];
    const sorted = [...all.filter(({ level }) => level === 'red'), ...all.filter(({ level }) => level === 'amber')];
    return {
      /** The troubles, the worst first. `level`: that of the worst. */
      verdict: { level: sorted[0]?.level ?? 'green', troubles: sorted },
      /** `instance`: name of the host. */
      ...{ version: readVersion(), instance: hostname(), startedAt, at: time() },
      state: isDraining ? 'draining' : 'serving',
      ...requests.requests(),
      process: {
        /** Absent where they are not known. */
        descriptors: { open: await countDescriptors(), max: readDescriptorLimit() },
        connections: [...connections.values()],
        /** p95 of the last minute. */
        eventLoopMs: p95Ms,
        /** Lines that were dropped since the start. */
        droppedLogLines: droppedLogLines(),
      },
      memory: {
        residentBytes: process.memoryUsage.rss(),
        heapBytes: heap.used_heap_size,
        heapLimitBytes: heap.heap_size_limit,
      },
      snapshots: { ...held, maxBytes: config.cache.maxBytes },
      /** Redis; `null` without the setting `shared`. */
      shared,
      upstreams: upstreams.status(config),
      resources,
      changes: troubles.changes(),
      /** `null` where settings are not from a file. */
      settingsFile,
      /** As the metric `portico_settings_info` has it. */
      settingsHash: settingsHash(config),
    };
  }

  return {
    listeners: [requests.events, upstreams.events, events, troubles.events],
    status,
    onReload(changed: Config) {
      config = changed;
    },
  };
}

/** Returns the troubles of certificates in use, by the setting that names their file. */
export function certificateTroubles(certificates: readonly CertificateFile[], now: number): Trouble[] {
  return certificates.flatMap(({ block, file, to }) => {
    const days = Math.floor((to - now) / DAY_MS);
    if (days >= EXPIRING_DAYS) return [];
    const level = days < ALMOST_EXPIRED_DAYS ? 'red' : 'amber';
    const what = days < 0 ? 'expired' : `expires in ${days} d`;
    return [troubleOf(level, 'PorticoCertificateExpiring', [...block, file].join('.'), what)];
  });
}
