import type { Row, Samples } from './figures.ts';
import type { Workshop } from './workshop.ts';

/** What is measured together. */
export interface Scenario {
  /** What the command line calls it. */
  readonly name: string;
  readonly rows: readonly Row[];
  /**
   * Measures, and returns the samples of each row; none for a row whose reference this machine does not have. Rejects where what
   * was measured is not what it claims.
   */
  run(workshop: Workshop): Promise<ReadonlyMap<string, Samples>>;
}

/** What answers a question of its own, in Markdown. It runs by name only. */
export interface Experiment {
  readonly name: string;
  run(workshop: Workshop): Promise<string>;
}
