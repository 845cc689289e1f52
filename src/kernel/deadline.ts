import { GatewayError } from './errors.ts';

/**
 * Runs `work` under one signal that aborts when `timeoutMs` have passed (reason: `upstream_timeout`) or when
 * `signal` aborts (reason: that signal's own). Rejects with that reason at once, whether or not `work` heeds it.
 */
export async function withDeadline<T>(
  timeoutMs: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new GatewayError('upstream_timeout')), timeoutMs);
  const forward = () => controller.abort(signal.reason);
  signal.addEventListener('abort', forward, { once: true });
  try {
    return await heeding(controller.signal, () => work(controller.signal));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', forward);
  }
}

/** Settles as `work` does, or rejects with the signal's reason at once when it aborts first. */
export function heeding<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const abort = () => reject(signal.reason);
    const done = () => signal.removeEventListener('abort', abort);
    // Listens before the work begins: what it does at once may be what aborts the signal.
    signal.addEventListener('abort', abort, { once: true });
    work().then(resolve, reject).finally(done);
  });
}
