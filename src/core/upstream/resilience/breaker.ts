import { EventEmitter } from 'node:events';
import CircuitBreaker from 'opossum';

export type BreakerState = 'closed' | 'open' | 'half-open';

export interface BreakerSettings {
  /** Opens when more than this share of the calls in the window failed. */
  readonly failurePercent: number;
  /** Calls that the window must hold before the breaker may open. */
  readonly minimumCalls: number;
  readonly windowMs: number;
  /** How long it stays open before one call may probe. */
  readonly openMs: number;
}

/** The calls that the window holds. */
export interface BreakerCounts {
  readonly calls: number;
  readonly failures: number;
}

export interface BreakerOptions extends BreakerSettings {
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
  /** Called once for every change of state, with what the window held then. */
  readonly onChange: (state: BreakerState, counts: BreakerCounts) => void;
}

/** State and statistics of one upstream. Who may pass is the business of the gate. */
export interface Breaker {
  readonly state: BreakerState;
  /** Goes up with every change of state. */
  readonly generation: number;
  /** How long it stays open still; 0 where it is not open. */
  readonly remainingMs: number;
  /** Takes the outcome of one call. When half-open, it closes or opens the breaker; the state has changed on return. */
  record(ok: boolean): void;
  /** Lets go of its timer. */
  close(): void;
}

const BUCKETS = 10;
const FAILED = new Error('the call failed');

/**
 * opossum, as what keeps state and statistics. Calls do not run in it: it is told of outcomes that count, and of
 * nothing else (docs/decisions/0009).
 */
export function createBreaker({ now, onChange, ...settings }: BreakerOptions): Breaker {
  const rotation = new EventEmitter();
  const circuit = new CircuitBreaker<[boolean], void>(conclude, {
    timeout: false,
    errorThresholdPercentage: settings.failurePercent,
    volumeThreshold: settings.minimumCalls,
    rollingCountTimeout: settings.windowMs,
    rollingCountBuckets: BUCKETS,
    rollingPercentilesEnabled: false,
    enableSnapshots: false,
    resetTimeout: settings.openMs,
    rotateBucketController: rotation,
  });
  const bucketMs = settings.windowMs / BUCKETS;
  let turnedAt = now();
  let openedAt = 0;
  let generation = 0;

  function stateNow(): BreakerState {
    if (circuit.opened) return 'open';
    return circuit.halfOpen ? 'half-open' : 'closed';
  }

  /** The window moves when it is looked at: no timer runs for it. */
  function turnWindow(): void {
    const passed = Math.floor((now() - turnedAt) / bucketMs);
    turnedAt += passed * bucketMs;
    turn(Math.min(passed, BUCKETS));
  }

  function turn(buckets: number): void {
    for (let turned = 0; turned < buckets; turned += 1) rotation.emit('rotate');
  }

  function changed(): void {
    generation += 1;
    const { fires, failures } = circuit.stats;
    onChange(stateNow(), { calls: fires, failures });
  }

  circuit.on('open', () => {
    openedAt = now();
    changed();
  });
  circuit.on('halfOpen', changed);
  circuit.on('close', () => {
    changed();
    // What failed before says nothing about the upstream that is back: one more failure must not open it again.
    turn(BUCKETS);
  });

  return {
    get state() {
      return stateNow();
    },
    get generation() {
      return generation;
    },
    get remainingMs() {
      return circuit.opened ? Math.max(openedAt + settings.openMs - now(), 0) : 0;
    },
    record(ok) {
      turnWindow();
      // A success that is fired closes it too, but some turns later.
      if (ok && circuit.halfOpen) circuit.close();
      else circuit.fire(ok).catch(() => {});
    },
    close() {
      circuit.shutdown();
    },
  };
}

/** opossum's action. It throws rather than rejects, so that opossum has heard of it when `fire` returns. */
function conclude(ok: boolean): Promise<void> {
  if (!ok) throw FAILED;
  return Promise.resolve();
}
