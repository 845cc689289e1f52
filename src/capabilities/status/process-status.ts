import { watchCertificates } from '../../core/certificates.ts';
import type { Config } from '../../core/config/schema/settings.ts';
import { countDescriptors, readDescriptorLimit } from '../../core/descriptors.ts';
import type { Events } from '../../core/kernel/events.ts';
import { watchEventLoop } from '../../core/kernel/turns.ts';
import type { CapabilityContext } from '../capability.ts';
import { createHistory } from './history.ts';
import type { ProcessStatus } from './status-view.ts';

/** Interval at which the process is looked at. */
const LOOK_MS = 100;

/** Observes connections, and from `listening` to `drained` the event loop and dropped lines. */
export function createProcessStatus({
  now,
  readings,
  resources,
}: Pick<CapabilityContext, 'now' | 'readings' | 'resources'>) {
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
    async status(config: Config): Promise<ProcessStatus> {
      const inUse = await certificates(config);
      return {
        descriptors: { open: await countDescriptors(), max: readDescriptorLimit() },
        connections: [...connections].map(([listener, counts]) => ({ listener, ...counts })),
        eventLoopMs: { lastMinute: delays.lastMinute().p95Ms, tenMinutes: delays.total().p95Ms },
        certificates: inUse.map(({ block, file, to }) => ({
          ...{ name: [...block, file].join('.'), to: new Date(to).toISOString() },
        })),
        droppedLines: { ...dropped, droppedAt },
      };
    },
  };
}
