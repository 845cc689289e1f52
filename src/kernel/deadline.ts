import { GatewayError } from './errors.ts';

/** A signal that aborts once a time has passed. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Lets go of its timer and of the signal that it was made from. Call it once the work is done. */
  end(): void;
}

/**
 * A signal that aborts when `timeoutMs` have passed (reason: `upstream_timeout`, which {@link isDeadline} knows) or
 * when `signal` aborts (reason: that signal's own). Throws that reason where `signal` has aborted already.
 */
export function startDeadline(timeoutMs: number, signal: AbortSignal): Deadline {
  signal.throwIfAborted();
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new GatewayError('upstream_timeout')), timeoutMs);
  const forward = () => controller.abort(signal.reason);
  signal.addEventListener('abort', forward, { once: true });
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer);
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
