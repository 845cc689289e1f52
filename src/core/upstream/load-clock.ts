const PHASES = ['authorization', 'queue', 'connect', 'first byte', 'body', 'mapping', 'retry delay'] as const;

/** What a page waits for. `connect`: also for a connection to be free. */
export type Phase = (typeof PHASES)[number];

/** The time of one load, which its pages share. */
export interface LoadClock {
  /** When the load must end, by the clock `now`. */
  readonly dueAt: number;
  /** When its first page left the queue. */
  startedAt?: number | undefined;
  /** Called when the load has its list. */
  onLoaded?: (() => void) | undefined;
  /** Starts a page. Call the result with each phase that it enters, and without one at its end. */
  startPage(): EnterPhase;
  /** Milliseconds in a phase, of all pages together. */
  msIn(phase: Phase): number;
  /** Describes where the time went: `queue 8120 ms, first byte 1875 ms`. */
  describe(): string;
}

export type EnterPhase = (phase?: Phase) => void;

/** `now`: a clock in milliseconds that never goes back. */
export function createLoadClock(dueAt: number, now: () => number = () => performance.now()): LoadClock {
  const totals = new Map<Phase, number>();
  /** When each page entered its current phase. */
  const open = new Set<{ readonly phase: Phase; readonly since: number }>();

  function startPage(): EnterPhase {
    let current: { readonly phase: Phase; readonly since: number } | undefined;
    return (phase) => {
      if (current !== undefined) {
        open.delete(current);
        totals.set(current.phase, (totals.get(current.phase) ?? 0) + now() - current.since);
      }
      current = phase && { phase, since: now() };
      if (current !== undefined) open.add(current);
    };
  }

  function msIn(phase: Phase): number {
    const running = [...open].filter((page) => page.phase === phase).map(({ since }) => now() - since);
    return running.reduce((sum, ms) => sum + ms, totals.get(phase) ?? 0);
  }

  return {
    dueAt,
    startPage,
    msIn,
    describe: () =>
      PHASES.map((phase) => ({ phase, ms: Math.round(msIn(phase)) }))
        .filter(({ ms }) => ms > 0)
        .map(({ phase, ms }) => `${phase} ${ms} ms`)
        .join(', '),
  };
}
