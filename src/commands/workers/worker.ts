import { once } from 'node:events';
import { capabilitiesSharing } from '../../composition.ts';
import { createKeyOf } from '../../core/credentials/authenticate.ts';
import { type SharedCounts, shareNothing } from '../../core/sharing.ts';
import type { GatewayOptions } from '../../gateway.ts';

/** Units to add to counters whose windows begin with the first unit. */
export interface CountsToAdd {
  readonly units: readonly (readonly [name: string, units: number])[];
  readonly windowMs: number;
}

export interface CountsAdded {
  readonly counted: readonly { readonly total: number; readonly restMs: number }[];
}

export interface Begin {
  readonly adminSocketPath: string;
  /** Secret behind the keys of callers, in base64url: the same in all workers, and nowhere else. */
  readonly secret: string;
  readonly isTerminal: boolean;
}

export type ToWorker = { readonly begin: Begin } | CountsAdded | { readonly signal: NodeJS.Signals };

/** From a worker to the primary process. `join` asks for `begin`. */
export type ToPrimary = 'join' | { readonly ready: string } | { readonly add: CountsToAdd };

/** What a worker takes from the primary process. */
export interface Membership extends Pick<Begin, 'isTerminal'> {
  readonly gateway: Pick<GatewayOptions, 'adminSocketPath' | 'capabilities'>;
  reportReady(url: string): void;
}

type SignalHandler = (signal: NodeJS.Signals) => void;

const SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2'];

/**
 * Joins the primary process, which passes on signals: a terminal and systemd send theirs to every process of a group, and a
 * worker that drained by itself would be replaced. Node ends a worker whose primary process is gone.
 */
export async function joinPrimary(): Promise<Membership> {
  /** Counts are answered in the order in which they were sent. */
  const waiting: ((counted: CountsAdded['counted']) => void)[] = [];
  const add: SharedCounts['add'] = (units, windowMs) =>
    new Promise<CountsAdded['counted']>((resolve) => {
      waiting.push(resolve);
      send({ add: { units: [...units], windowMs } });
    });

  const handlers = new Map(SIGNALS.map((signal) => [signal, process.listeners(signal) as SignalHandler[]]));
  for (const signal of SIGNALS) process.removeAllListeners(signal).on(signal, () => {});
  const joined = once(process, 'message');
  send('join');
  const [{ begin }] = (await joined) as [{ begin: Begin }];
  process.on('message', (message: ToWorker) => {
    if ('signal' in message) for (const handle of handlers.get(message.signal) ?? []) handle(message.signal);
    if ('counted' in message) waiting.shift()?.(message.counted);
  });
  const { adminSocketPath, secret, isTerminal } = begin;
  const keyOf = createKeyOf(Buffer.from(secret, 'base64url'));
  const sharing = { ...shareNothing(), keyOf, counts: { add, nameOf: keyOf } };
  return {
    isTerminal,
    gateway: { adminSocketPath, capabilities: capabilitiesSharing(sharing) },
    reportReady: (ready) => send({ ready }),
  };
}

function send(message: ToPrimary): void {
  process.send?.(message);
}
