/** `action`, run at once and then no more often than every `pauseMs`; calls in between do nothing. */
export function rarely(pauseMs: number, action: () => void): () => void {
  let next = 0;
  return () => {
    const now = performance.now();
    if (now < next) return;
    next = now + pauseMs;
    action();
  };
}
