import type { RunCommand } from '../../../src/capabilities/shared-cache/redis-connection.ts';
import type { SharedSnapshots } from '../../../src/capabilities/shared-cache/shared-snapshots.ts';

type Listener = Pick<SharedSnapshots, 'onMessage'>;

/** A Redis in the memory of the test, and everything that can be wrong with it. */
export type MemoryRedis = ReturnType<typeof createMemoryRedis>;

/** The connection of one replica. */
export interface MemoryConnection {
  readonly run: RunCommand;
  /** How often each command was run. */
  readonly calls: Readonly<Record<string, number>>;
  listen(listener: Listener): void;
  /** From now on nothing gets through, in any direction. */
  cut(): void;
  mend(): void;
}

/** `now` returns milliseconds, of any clock. */
export function createMemoryRedis(now: () => number) {
  const values = new Map<string, { readonly bytes: Buffer; readonly until: number }>();
  const receivers = new Set<(message: string) => void>();

  function heldValue(key: string): Buffer | undefined {
    const value = values.get(key);
    return value !== undefined && value.until > now() ? value.bytes : undefined;
  }

  const commands: Parameters<Parameters<RunCommand>[1]>[0] = {
    get: async (key, maxBytes) => Buffer.from(heldValue(key)?.subarray(0, maxBytes) ?? []),
    set: async (key, bytes, ttlMs) => values.set(key, { bytes: Buffer.from(bytes), until: now() + ttlMs }),
    delete: async (key) => values.delete(key),
    async publish(_channel, message) {
      for (const receive of receivers) receive(message);
    },
    add: async () => [],
  };

  function connect(): MemoryConnection {
    const calls: Record<string, number> = {};
    let isCut = false;
    let listener: Listener | undefined;
    receivers.add((message) => {
      if (!isCut) listener?.onMessage(message);
    });
    return {
      calls,
      async run(name, command) {
        calls[name] = (calls[name] ?? 0) + 1;
        return isCut ? undefined : command(commands);
      },
      listen(given) {
        listener = given;
      },
      cut() {
        isCut = true;
      },
      mend() {
        isCut = false;
      },
    };
  }

  return {
    connect,
    publish: (message: string) => commands.publish('', message),
    get held(): ReadonlyMap<string, Buffer> {
      return new Map(
        [...values.keys()].flatMap((key) => (heldValue(key)?.length ? [[key, heldValue(key) as Buffer]] : [])),
      );
    },
    tamper(key: string, bytes: Buffer): void {
      values.set(key, { bytes, until: values.get(key)?.until ?? Number.POSITIVE_INFINITY });
    },
    flush: () => values.clear(),
  };
}
