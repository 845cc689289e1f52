import { type Deadline, startDeadline, withAbort } from '../kernel/deadline.ts';
import { GatewayError } from '../kernel/errors.ts';

/** The account of one load. */
export interface LoadAccount {
  /** Negative for released bytes. Throws `overloaded` if this load is shed, `upstream_invalid` if it alone exceeds the bound. */
  hold(bytes: number): void;
  /** Throws `upstream_invalid` if the read is too large. */
  read(bytes: number): void;
}

/** Bounds what concurrent loads hold together, over all upstreams. */
export type Loading = ReturnType<typeof createLoading>;

interface Held {
  readonly deadline: Deadline;
  bytes: number;
}

/** Sheds the latest load with more than an equal share: a small one is never shed, and the oldest large one completes. */
export function createLoading({ maxBytes }: { readonly maxBytes: number }) {
  /** The oldest first. Not a `Set`: V8 would keep the loads of its earlier tables until a full garbage collection. */
  const loads: Held[] = [];
  let total = 0;

  function end(load: Held): void {
    const at = loads.indexOf(load);
    if (at !== -1) loads.splice(at, 1);
    total -= load.bytes;
    load.bytes = 0;
  }

  function shedTo(max: number): void {
    while (total > max) {
      const share = max / loads.length;
      const latest = loads.findLast(({ bytes }) => bytes > share);
      if (latest === undefined) return;
      end(latest);
      latest.deadline.abort(
        new GatewayError('overloaded', {
          detail: 'Too many lists are being read at once. Try again after Retry-After.',
          reason: 'it was shed in favor of other loads',
          bound: 'maxLoadingBytes',
        }),
      );
    }
  }

  function tooLarge(bound: string): GatewayError {
    return new GatewayError('upstream_invalid', { reason: `the pages of the read are larger than ${bound}`, bound });
  }

  return {
    /** Rejects with `overloaded` if it is shed, and with the reason of its signal as soon as that aborts. */
    async run<T>(
      { maxReadBytes, timeoutMs }: { readonly maxReadBytes: number; readonly timeoutMs: number },
      signal: AbortSignal,
      work: (account: LoadAccount, signal: AbortSignal) => Promise<T>,
    ): Promise<T> {
      const deadline = startDeadline(timeoutMs, signal);
      const load: Held = { deadline, bytes: 0 };
      loads.push(load);
      let readBytes = 0;
      const account: LoadAccount = {
        hold(bytes) {
          if (loads.includes(load)) {
            load.bytes += bytes;
            total += bytes;
          }
          if (bytes <= 0) return;
          if (load.bytes > maxBytes) throw tooLarge('maxLoadingBytes');
          shedTo(maxBytes);
          deadline.signal.throwIfAborted();
        },
        read(bytes) {
          readBytes += bytes;
          if (readBytes > maxReadBytes) throw tooLarge('maxReadBytes');
        },
      };
      try {
        return await withAbort(deadline.signal, () => work(account, deadline.signal));
      } finally {
        deadline.end();
        end(load);
      }
    },
  };
}

const PHASES = ['authorization', 'queue', 'connect', 'first byte', 'body', 'mapping', 'retry delay'] as const;

/** What a page waits for. `connect`: also for a connection to be free. */
type Phase = (typeof PHASES)[number];

/** The time of one load, which its pages share. */
export interface LoadClock {
  readonly dueAt: number;
  /** When its first page left the queue. */
  startedAt?: number | undefined;
  /** Milliseconds in slots of the bulkhead, of all pages together. */
  slotMs: number;
  /** Called with the load when that has its list. */
  onLoaded?: ((load: LoadClock) => void) | undefined;
  /** Call the result with each phase of the page, and without one at its end. */
  startPage(): EnterPhase;
  /** Returns `queue 8120 ms, first byte 1875 ms`. */
  describe(): string;
}

export type EnterPhase = (phase?: Phase) => void;

/** Creates a clock. `now` never goes back. */
export function createLoadClock(dueAt: number, now: () => number = () => performance.now()): LoadClock {
  const totals = new Map<Phase, number>();
  const running = new Set<(phase?: Phase) => void>();

  function startPage(): EnterPhase {
    let current: Phase | undefined;
    let since = 0;
    const enter: EnterPhase = (phase) => {
      const at = now();
      if (current !== undefined) totals.set(current, (totals.get(current) ?? 0) + at - since);
      current = phase;
      since = at;
      if (phase === undefined) running.delete(record);
    };
    const record = () => enter(current);
    running.add(record);
    return enter;
  }

  return {
    dueAt,
    slotMs: 0,
    startPage,
    describe() {
      for (const record of running) record();
      return PHASES.map((phase) => ({ phase, ms: Math.round(totals.get(phase) ?? 0) }))
        .filter(({ ms }) => ms > 0)
        .map(({ phase, ms }) => `${phase} ${ms} ms`)
        .join(', ');
    },
  };
}

/** Share of the latest call in the average. */
const LATEST = 1 / 32;
/** Deviations above the mean in which nearly all calls end. */
const DEVIATIONS = 3;

/** Estimates usual times as TCP does for its timeout (RFC 6298, section 2): smoothed time and mean deviation. */
export function createUsualTime() {
  let share = 1;
  let meanMs = 0;
  let deviationMs = 0;
  return {
    add(ms: number): void {
      meanMs += share * (ms - meanMs);
      deviationMs += share * (Math.abs(ms - meanMs) - deviationMs);
      share = Math.max(share / (1 + share), LATEST);
    },
    get meanMs() {
      return meanMs;
    },
    /** Time in which nearly all calls end. 0 until a call has ended. */
    get mostMs() {
      return meanMs + DEVIATIONS * deviationMs;
    },
  };
}
