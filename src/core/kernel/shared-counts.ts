/** Counters that all replicas of a deployment share. */
export interface SharedCounts {
  /**
   * Adds so many units to each of these counters, whose windows are `windowMs` long and begin with the first unit. Resolves with
   * the state of each, in the same order; `undefined` where the store cannot be reached. Never rejects.
   */
  add(
    units: ReadonlyMap<string, number>,
    windowMs: number,
  ): Promise<readonly ({ readonly total: number; readonly restMs: number } | undefined)[]>;
  /** Keyed hash of a text, equal on all replicas: the name of a counter in the store. */
  nameOf(text: string): string;
}
