import { GatewayError } from './errors.ts';

/** A timer that is later than this was delayed by a stopped process. */
const LATE_MS = 50;

/**
 * Calls `act` after `ms`, unless the returned function is called. After a stop of the process (a signal, no CPU), timers run before
 * sockets are read: a late timer is re-armed once, for as long as it was late, at most `ms`.
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

interface Deadline {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  end(): void;
}

/**
 * Returns a signal that aborts after `timeoutMs` (reason: `upstream_timeout`, recognised by {@link isDeadline}), or when
 * `signal` aborts, with that signal's reason. Throws that reason if `signal` has aborted. Call `end` when the work is done.
 */
export function startDeadline(timeoutMs: number, signal: AbortSignal): Deadline {
  signal.throwIfAborted();
  const controller = new AbortController();
  const cancelTimer = startTimer(timeoutMs, () => controller.abort(new GatewayError('upstream_timeout')));
  const forward = () => controller.abort(signal.reason);
  signal.addEventListener('abort', forward, { once: true });
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    end() {
      cancelTimer();
      signal.removeEventListener('abort', forward);
    },
  };
}

/** Whether a signal aborted because of its deadline. */
export function isDeadline(reason: unknown): boolean {
  return reason instanceof GatewayError && reason.code === 'upstream_timeout' && !reason.countsForBreaker;
}

/** Rejects with the reason of {@link startDeadline} as soon as it aborts, even if `work` ignores its signal. */
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

/** Settles as `work` does, or rejects with the signal's reason a turn after it aborts: in it, `work` can say what it waited for. */
export function withAbort<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const abort = () => setImmediate(reject, signal.reason);
    // Listens before the work starts, because the work itself may abort the signal.
    signal.addEventListener('abort', abort, { once: true });
    work().then(
      (result) => {
        signal.removeEventListener('abort', abort);
        resolve(result);
      },
      (error) => {
        signal.removeEventListener('abort', abort);
        reject(error);
      },
    );
  });
}

/** Made once: an `abort()` without a reason captures a stack. */
const NOT_NEEDED = new Error('the page is not needed');

/**
 * Runs `work` for 0 up to `count`, at most `concurrency` at once, and yields the results in order. The first failure ends all
 * others and the whole at once; so do `signal` and a consumer that returns early.
 */
export async function* inOrder<T>(
  count: number,
  concurrency: number,
  signal: AbortSignal,
  work: (index: number, signal: AbortSignal) => Promise<T>,
): AsyncGenerator<T> {
  signal.throwIfAborted();
  if (count === 0) return;
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  const start = (index: number) => {
    const result = withAbort(controller.signal, () => work(index, controller.signal));
    result.catch((error) => controller.abort(error));
    return result;
  };
  const ahead: Promise<T>[] = [];
  let next = 0;
  try {
    for (;;) {
      for (; next < count && ahead.length < concurrency; next += 1) ahead.push(start(next));
      const result = ahead.shift();
      if (result === undefined) return;
      yield await result;
    }
  } finally {
    signal.removeEventListener('abort', abort);
    controller.abort(NOT_NEEDED);
  }
}
