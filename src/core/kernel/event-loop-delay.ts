/** Measures delays of the event loop with a timer, which does not keep the process alive. Returns how to stop it. */
export function watchEventLoop(everyMs: number, onDelay: (delayMs: number) => void): () => void {
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    onDelay(Math.max(0, now - last - everyMs));
    last = now;
  }, everyMs).unref();
  return () => clearInterval(timer);
}
