import { GatewayError } from './errors.ts';

/** Noticed so late, a time has passed while this process stood still. */
const LATE_MS = 50;

/**
 * Calls `act` once `ms` have passed, and gives what calls it off. A process that stands still (it is stopped, or has no
 * processor) reads nothing, and what was due meanwhile comes ahead of what has arrived. So where it is noticed that late, there
 * is as much time again as it is late: `ms` at most, and once.
 */
export function startTimer(ms: number, act: () => void): () => void {
  const due = performance.now() + ms;
  let timer = setTimeout(() => {
    const lateMs = performance.now() - due;
    if (lateMs < LATE_MS) act();
    else timer = setTimeout(act, Math.min(lateMs, ms));
  }, ms);
  return () => clearTimeout(timer);
}

/** A signal that aborts once a time has passed. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Lets go of its timer and of the signal that it was made from. Call it once the work is done. */
  end(): void;
}

/**
 * A signal that aborts when `timeoutMs` have passed, as {@link startTimer} counts them (reason: `upstream_timeout`, which
 * {@link isDeadline} knows) or when `signal` aborts (reason: that signal's own). Throws that reason where `signal` has
 * aborted already.
 */
export function startDeadline(timeoutMs: number, signal: AbortSignal): Deadline {
  signal.throwIfAborted();
  const controller = new AbortController();
  const callOff = startTimer(timeoutMs, () => controller.abort(new GatewayError('upstream_timeout')));
  const forward = () => controller.abort(signal.reason);
  signal.addEventListener('abort', forward, { once: true });
  return {
    signal: controller.signal,
    end() {
      callOff();
      signal.removeEventListener('abort', forward);
    },
  };
}

/** Whether a signal aborted since its deadline passed, and not since a caller hung up or another page failed. */
export function isDeadline(reason: unknown): boolean {
  return reason instanceof GatewayError && reason.code === 'upstream_timeout' && !reason.fault;
}

/**
 * Runs `work` under the signal of {@link startDeadline}. Rejects with its reason at once when it aborts, whether or
 * not `work` looks at it.
 */
export async function withDeadline<T>(
  timeoutMs: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = startDeadline(timeoutMs, signal);
  try {
    return await withAbort(deadline.signal, () => work(deadline.signal));
  } finally {
    deadline.end();
  }
}

/** Settles as `work` does, or rejects with the signal's reason at once when it aborts first. */
export function withAbort<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const abort = () => reject(signal.reason);
    const done = () => signal.removeEventListener('abort', abort);
    // Listens before the work begins: what it does at once may be what aborts the signal.
    signal.addEventListener('abort', abort, { once: true });
    work().then(resolve, reject).finally(done);
  });
}
