import type { RejectionsStore } from '../../../src/capabilities/shared-cache/shared-rejections.ts';

/** A store in the memory of the test, and all that may be wrong with it. */
export interface MemoryRejections {
  /** The store as one more replica sees it. */
  connect(): RejectionsStore;
  /** All that was told so far. */
  readonly told: readonly string[];
  /** From now on nothing of what is told arrives, or everything does again. */
  cut(isCut: boolean): void;
  /** Brings this to everybody, as somebody might who gets at the store. */
  bring(sealed: readonly string[]): void;
}

export function createMemoryRejections(): MemoryRejections {
  type Listener = (sealed: readonly string[]) => void;
  const replicas: Set<Listener>[] = [];
  const told: string[] = [];
  let isCut = false;
  return {
    told,
    connect() {
      const own = new Set<Listener>();
      replicas.push(own);
      return {
        tell(sealed) {
          told.push(sealed);
          if (isCut) return;
          for (const other of replicas) if (other !== own) for (const listener of other) listener([sealed]);
        },
        onTold(listener) {
          own.add(listener);
          return () => own.delete(listener);
        },
      };
    },
    cut(now) {
      isCut = now;
    },
    bring(sealed) {
      for (const replica of replicas) for (const listener of replica) listener(sealed);
    },
  };
}
