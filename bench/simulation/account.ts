/** What became of a read. */
export type Served = 'first' | 'second' | 'upstream' | 'staleForError' | 'failed';

/** What happened in some seconds of a simulation. */
export interface Sums extends Readonly<Record<Served | 'reads' | 'loads' | 'refused', number>> {
  /** Loads in the second that had most of them. */
  readonly mostLoads: number;
}

/** What happens in each second. */
export interface Account {
  count(what: Served | 'loads' | 'refused', now: number): void;
  /** Of the seconds from one up to another. */
  between(from: number, to: number): Sums;
}

const KINDS = ['first', 'second', 'upstream', 'staleForError', 'failed', 'loads', 'refused'] as const;

export function createAccount(seconds: number): Account {
  const counts = new Map(KINDS.map((kind) => [kind, new Uint32Array(seconds)]));
  const of = (kind: (typeof KINDS)[number]): Uint32Array => counts.get(kind) ?? new Uint32Array(seconds);
  return {
    count(what, now) {
      const second = Math.floor(now / 1000);
      const row = of(what);
      row[second] = (row[second] ?? 0) + 1;
    },
    between(from, to) {
      const sum = (kind: (typeof KINDS)[number]) =>
        of(kind)
          .slice(from, to)
          .reduce((total, count) => total + count, 0);
      const sums = {
        first: sum('first'),
        second: sum('second'),
        upstream: sum('upstream'),
        staleForError: sum('staleForError'),
        failed: sum('failed'),
      };
      return {
        ...sums,
        reads: Object.values(sums).reduce((total, count) => total + count),
        loads: sum('loads'),
        refused: sum('refused'),
        mostLoads: of('loads')
          .slice(from, to)
          .reduce((most, count) => Math.max(most, count), 0),
      };
    },
  };
}
