/** How far a listener is on its way down. */
export interface Lifecycle {
  /** `/readyz` says 503; everything else is answered as ever. */
  draining: boolean;
  /** No more connections are accepted, and no more requests are begun. */
  stopping: boolean;
}

export function createLifecycle(): Lifecycle {
  return { draining: false, stopping: false };
}
