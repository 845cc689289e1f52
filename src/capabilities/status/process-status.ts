import { watchCertificates } from '../../core/certificates.ts';
import type { Config } from '../../core/config/schema/settings.ts';
import { countDescriptors, readDescriptorLimit } from '../../core/descriptors.ts';
import type { Events } from '../../core/kernel/events.ts';
import { watchEventLoop } from '../../core/kernel/turns.ts';
import type { CapabilityContext } from '../capability.ts';
import { createHistory } from './request-status.ts';

const LOOK_MS = 100;

export type ProcessStatus = Awaited<ReturnType<ReturnType<typeof createProcessStatus>['status']>>;

/** Observes connections, and from `listening` to `drained` the event loop and dropped lines. */
export function createProcessStatus({ now, readings, resources }: CapabilityContext) {
  const certificates = watchCertificates({ resources, now });
  const delays = createHistory(now);
  const connections = new Map<string, { readonly open: number; readonly max: number }>();
  let droppedAt: string | null = null;
  let dropped = { log: 0, audit: 0 };
  let stopWatching = () => {};

  function look(delayMs: number): void {
    delays.add(delayMs, false);
    const all = { log: readings.droppedLogLines?.() ?? 0, audit: readings.droppedAuditLines?.() ?? 0 };
    if (all.log + all.audit > dropped.log + dropped.audit) droppedAt = new Date(now()).toISOString();
    dropped = all;
  }

  const events: Events = {
    connectionsChanged({ listener, open, maxConnections: max }) {
      connections.set(listener, { open, max });
    },
    listening() {
      stopWatching = watchEventLoop(LOOK_MS, look);
    },
    drained: () => stopWatching(),
  };

  return {
    events,
    async status(config: Config) {
      const inUse = await certificates(config);
      return {
        /** Absent where they are not known. */
        descriptors: { open: await countDescriptors(), max: readDescriptorLimit() },
        connections: [...connections].map(([listener, counts]) => ({ listener, ...counts })),
        eventLoopMs: { lastMinute: delays.lastMinute().p95Ms, tenMinutes: delays.total().p95Ms },
        /** Certificates in use, by the setting that names their file. `to`: the end of validity; ISO 8601. */
        certificates: inUse.map(({ block, file, to }) => {
          return { name: [...block, file].join('.'), to: new Date(to).toISOString() };
        }),
        /** Lines that were dropped since the start. `droppedAt`: when the last one was noticed; ISO 8601. */
        droppedLines: { ...dropped, droppedAt },
      };
    },
  };
}
