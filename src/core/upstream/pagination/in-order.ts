import { withAbort } from '../../kernel/deadline.ts';

/**
 * Runs `work` for 0 up to `count`, at most `concurrency` at once, and yields the results in order. The first one that
 * fails ends all others and the whole at once, whichever is waited for; so do `signal` and a reader who leaves early.
 */
export async function* inOrder<T>(
  count: number,
  concurrency: number,
  signal: AbortSignal,
  work: (index: number, signal: AbortSignal) => Promise<T>,
): AsyncGenerator<T> {
  signal.throwIfAborted();
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
    controller.abort();
  }
}
