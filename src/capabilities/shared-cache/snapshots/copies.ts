import type { Caller } from '../../../core/kernel/caller.ts';
import type { SharedPut } from '../../../core/kernel/events.ts';
import type { Lifetime } from '../../../core/reads/snapshots/lifetime.ts';
import type { Load } from '../../../core/reads/snapshots/load.ts';
import { type CallerSecret, type SharedLevel, sharedAs } from './level.ts';
import { isOfReading, lengthOf, readSealed, type Sealed, type SealedFor, seal, unseal } from './seal.ts';
import { endOf, loadedBy } from './steps.ts';

/** How the second level holds one resource. */
export interface SharedReading {
  readonly level: SharedLevel;
  /** Where it is read from: a denial there holds for whatever is read from there. The same text on all replicas. */
  readonly origin: string;
  /** All that the list depends on, beside that and the caller. What was put under another text is not taken. */
  readonly reading: string;
  /** The resources of that origin that are stored: a denial of others is nothing to the second level. */
  readonly stored: readonly string[];
  /** Longest list that is shared, in bytes. */
  readonly maxBytes: number;
}

export interface CopiesOptions extends SharedReading {
  readonly resource: string;
  readonly lifetime: Lifetime;
}

/** What the second level holds of one resource for one caller. */
export interface Copies {
  /** Under which it is put and leased. */
  readonly name: string;
  /** All under which it is looked for: one for each secret. */
  readonly names: readonly string[];
  /** `undefined`: the store cannot be asked now. */
  look(): Promise<Found | undefined>;
  /** Puts what was loaded, and gives the lease back in any case. */
  put(
    load: Load,
    at: { readonly generation: string; readonly lease?: string | undefined },
  ): Promise<SharedPut['outcome']>;
}

export interface Found {
  /** Where a load that begins now may be put. */
  readonly generation: string;
  readonly copy: Copy | undefined;
  /** Something else is held than a replica has put there. */
  readonly altered: boolean;
}

export interface Copy {
  /** When it was loaded, by the clock of this process. */
  readonly loadedAt: number;
  /** The load in it. `undefined`: there is no room for it now, or the caller has been denied it meanwhile. */
  open(): Promise<Load | 'altered' | undefined>;
}

/**
 * The copies of one resource, for whichever caller. Each has copies of its own, whatever its partition: what comes from here is
 * what the upstream has shown to that very caller, so that it serves it as a load of its own would.
 */
export function openCopies(options: CopiesOptions): (caller: Caller) => Copies {
  const { level, resource, origin, reading, lifetime, maxBytes } = options;
  const { store, followed, inHand, maxValueBytes, now } = level;
  const what = sharedAs(origin, resource);
  const underSecret = (secret: CallerSecret) => ({ secret, reading: secret.keyOf(reading) });
  const [writing, ...before] = level.secrets;
  const current = underSecret(writing);
  const previous = before.map(underSecret);

  return (caller) => {
    const placeOf = ({ secret, reading }: typeof current) => ({
      key: () => secret.sealingKeyOf(caller),
      sealedFor: { name: secret.nameOf(what, caller), resource, reading },
    });
    const own = placeOf(current);
    const places = [own, ...previous.map(placeOf)];
    const names = places.map(({ sealedFor }) => sealedFor.name);
    const isSinceEviction = (loadedAt: number) => names.every((name) => followed.isSinceEviction(name, loadedAt));

    function copyIn(sealed: Sealed, key: () => Buffer, sealedFor: SealedFor): Copy | undefined {
      const loadedAt = loadedBy(sealed.loadedAt, now());
      const end = Math.min(sealed.expiresAt, caller.expiresAt ?? Number.POSITIVE_INFINITY);
      if (loadedAt === undefined || end <= now() || !isSinceEviction(sealed.loadedAt)) return undefined;
      return {
        loadedAt,
        async open() {
          const load = await inHand(sealed.bytes.length + sealed.length, () => unseal(sealed, key(), sealedFor));
          if (load === undefined) return 'altered';
          if (load === 'overloaded' || !isSinceEviction(sealed.loadedAt)) return undefined;
          return { ...load, snapshot: Object.freeze({ ...load.snapshot, loadedAt }) };
        },
      };
    }

    async function sealAndPut(
      ...[load, { generation, lease }]: Parameters<Copies['put']>
    ): Promise<SharedPut['outcome']> {
      const { key, sealedFor } = own;
      const expiresAt = endOf(load.snapshot.loadedAt, lifetime, caller.expiresAt);
      const length = lengthOf(load);
      if (length > maxBytes) return 'too_large';
      const sealed = await inHand(2 * length, () => seal(load, key(), expiresAt, sealedFor));
      if (sealed === 'overloaded') return sealed;
      if (sealed.length > maxValueBytes) return 'too_large';
      const ttlMs = Math.floor(expiresAt - now());
      if (ttlMs <= 0) return 'refused';
      return (await store.put(sealedFor.name, sealed, { generation, lease, ttlMs })) ? 'stored' : 'refused';
    }

    return {
      name: own.sealedFor.name,
      names,
      async look() {
        let generation: string | undefined;
        let altered = false;
        for (const { key, sealedFor } of places) {
          const looked = await store.look(sealedFor.name);
          if (looked === undefined) return undefined;
          generation ??= looked.generation;
          if (looked.held === undefined) continue;
          const sealed = looked.held.length > maxValueBytes ? undefined : readSealed(looked.held);
          if (sealed === undefined || sealed.length > maxBytes) altered = true;
          else if (isOfReading(sealed, sealedFor)) {
            const copy = copyIn(sealed, key, sealedFor);
            if (copy !== undefined) return { generation, copy, altered };
          }
        }
        return generation === undefined ? undefined : { generation, copy: undefined, altered };
      },
      async put(load, at) {
        let outcome: SharedPut['outcome'] | undefined;
        try {
          outcome = await sealAndPut(load, at);
          if (outcome === 'too_large') level.tooLong.add(own.sealedFor.name);
          return outcome;
        } finally {
          // Where it is held, the lease went back with it.
          if (outcome !== 'stored' && at.lease !== undefined) await store.release(own.sealedFor.name, at.lease);
        }
      },
    };
  };
}
