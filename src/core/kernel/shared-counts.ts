/** Counters shared by all replicas of a deployment. */
export interface SharedCounts {
  /**
   * Adds units to these counters, whose windows of `windowMs` start with the first unit. Resolves with the state of
   * each, in order; `undefined` when the store is unreachable. Never rejects.
   */
  add(
    units: ReadonlyMap<string, number>,
    windowMs: number,
  ): Promise<readonly ({ readonly total: number; readonly restMs: number } | undefined)[]>;
  /** Keyed hash of a text, equal on all replicas: the counter's name in the store. */
  nameOf(text: string): string;
}
