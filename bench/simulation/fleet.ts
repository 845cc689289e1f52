import { type LeaseState, nextStep, pauseMs } from '../../src/capabilities/shared-cache/lookup-or-lease.ts';
import { isRecent, type Lifetime, stageAt } from '../../src/core/reads/snapshots/with-snapshots.ts';
import { type Account, createAccount } from './account.ts';
import { type CallersOptions, haveCallersCome } from './callers.ts';
import { createSchedule } from './schedule.ts';

export interface FleetOptions extends CallersOptions {
  readonly replicas: number;
  /** Lists that one replica holds. */
  readonly maxEntries: number;
  readonly lifetime: Lifetime;
  /** Whether replicas share what they hold, and how. */
  readonly sharing?: { readonly leaseMs: number; readonly waitMs: number } | undefined;
  /** When the store between them cannot be asked, in milliseconds since the start. */
  readonly lost?: { readonly from: number; readonly to: number } | undefined;
  /** How long a load takes the platform, and how many it takes on a second; of more it says 429. */
  readonly platform: { readonly loadMs: number; readonly loadsPerSecond: number };
  readonly seconds: number;
}

/** A load that is under way on a replica, or waits for another replica's. */
interface Flight {
  readonly replica: number;
  readonly caller: number;
  /** What is older than that is not taken from another replica. */
  readonly maxAgeMs: number;
  readonly waitMs: number;
  readonly begun: number;
  /** Reads that wait for it; none behind a refresh. */
  readers: number;
  holder: LeaseState['holder'];
}

/**
 * Replicas, callers and a platform, with one list for each caller. What is fresh, stale or over, what is taken from another
 * replica, and who loads while who waits, is decided by the code that decides it in Portico; there is only a clock of its own,
 * and nothing in the lists. Each read comes to any replica, as behind a load balancer without sticky sessions.
 */
export function simulate(options: FleetOptions): Account {
  const { replicas, maxEntries, lifetime, sharing, lost, platform, callers, random, seconds } = options;
  const schedule = createSchedule();
  const account = createAccount(seconds);
  /** When each list was loaded, by caller: on each replica those that were used last, and between them. */
  const first = Array.from({ length: replicas }, () => new Map<number, number>());
  const second = new Float64Array(callers).fill(Number.NEGATIVE_INFINITY);
  const leaseEnds = new Float64Array(callers);
  const flights = new Map<number, Flight>();
  let admitted = platform.loadsPerSecond;
  let admittedAt = 0;

  const isLost = () => lost !== undefined && schedule.now >= lost.from && schedule.now < lost.to;

  function hold(replica: number, caller: number, loadedAt: number): void {
    const held = first[replica];
    if (held === undefined) return;
    held.delete(caller);
    held.set(caller, loadedAt);
    if (held.size > maxEntries) for (const [oldest] of held.entries().take(1)) held.delete(oldest);
  }

  function read(caller: number): void {
    const { now } = schedule;
    const replica = Math.floor(random() * replicas);
    const loadedAt = first[replica]?.get(caller);
    const stage = loadedAt === undefined ? 'over' : stageAt(now, loadedAt, lifetime);
    if (loadedAt !== undefined && (stage === 'fresh' || stage === 'stale-while-revalidate')) {
      hold(replica, caller, loadedAt);
      account.count('first', now);
      if (stage === 'stale-while-revalidate') refresh(replica, caller);
      return;
    }
    const { ttlMs, staleWhileRevalidateMs } = lifetime;
    fly(replica, caller, { maxAgeMs: ttlMs + staleWhileRevalidateMs, waitMs: sharing?.waitMs ?? 0 }).readers += 1;
  }

  function refresh(replica: number, caller: number): void {
    fly(replica, caller, { maxAgeMs: lifetime.ttlMs, waitMs: sharing?.leaseMs ?? 0 });
  }

  /** The flight of a caller on a replica; where none is in flight, it begins once its first reader has joined. */
  function fly(replica: number, caller: number, how: Pick<Flight, 'maxAgeMs' | 'waitMs'>): Flight {
    const key = replica * callers + caller;
    const joined = flights.get(key);
    if (joined !== undefined) return joined;
    const flight: Flight = { replica, caller, ...how, begun: schedule.now, readers: 0, holder: 'unknown' };
    flights.set(key, flight);
    schedule.after(0, () => lookUp(flight));
    return flight;
  }

  function land(flight: Flight, served: 'second' | 'upstream' | 'staleForError' | 'failed'): void {
    flights.delete(flight.replica * callers + flight.caller);
    for (let reader = 0; reader < flight.readers; reader += 1) account.count(served, schedule.now);
  }

  /** Does what `lookupOrLease` does, without waiting for replies of the store. */
  function lookUp(flight: Flight): void {
    const { caller, replica, begun, maxAgeMs, waitMs } = flight;
    const { now } = schedule;
    if (sharing === undefined || isLost()) {
      load(flight, false);
      return;
    }
    const loadedAt = second[caller] ?? Number.NEGATIVE_INFINITY;
    if (isRecent(loadedAt, maxAgeMs, now)) {
      releaseLease(flight);
      hold(replica, caller, loadedAt);
      land(flight, 'second');
      if (!isRecent(loadedAt, lifetime.ttlMs, now)) refresh(replica, caller);
      return;
    }
    const state = { holder: flight.holder, waitedMs: now - begun, waitMs };
    const step = nextStep(state);
    if (step === 'load') {
      load(flight, true);
      return;
    }
    schedule.after(step === 'wait' ? pauseMs(state) : 0, () => {
      const isFree = (leaseEnds[caller] ?? 0) <= schedule.now;
      if (isFree) leaseEnds[caller] = schedule.now + sharing.leaseMs;
      flight.holder = isFree ? 'self' : 'other';
      lookUp(flight);
    });
  }

  function releaseLease({ holder, caller }: Flight): void {
    if (holder === 'self') leaseEnds[caller] = 0;
  }

  /** A bucket that fills as fast as the platform takes on loads, and holds those of one second. */
  function isTakenOn(): boolean {
    const { loadsPerSecond } = platform;
    const filled = admitted + ((schedule.now - admittedAt) / 1000) * loadsPerSecond;
    admittedAt = schedule.now;
    admitted = Math.min(loadsPerSecond, filled);
    if (admitted < 1) return false;
    admitted -= 1;
    return true;
  }

  function load(flight: Flight, isShared: boolean): void {
    const { caller, replica } = flight;
    const begun = schedule.now;
    account.count('loads', begun);
    const isRefused = !isTakenOn();
    if (isRefused) account.count('refused', begun);
    schedule.after(platform.loadMs, () => {
      const now = schedule.now;
      if (!isRefused) {
        hold(replica, caller, begun);
        if (flight.holder === 'self' && !isLost()) second[caller] = begun;
      }
      releaseLease(flight);
      const copies = [first[replica]?.get(caller), isShared ? second[caller] : undefined];
      const isAny = copies.some((loadedAt) => loadedAt !== undefined && stageAt(now, loadedAt, lifetime) !== 'over');
      land(flight, isRefused ? (isAny ? 'staleForError' : 'failed') : 'upstream');
    });
  }

  haveCallersCome(schedule, options, read);
  if (sharing !== undefined && lost !== undefined) {
    // Evictions may have been missed meanwhile: each replica evicts what it holds.
    schedule.after(lost.to, () => {
      for (const held of first) held.clear();
    });
  }
  schedule.until(seconds * 1000);
  return account;
}
