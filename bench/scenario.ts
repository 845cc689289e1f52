import type { Workshop } from './workshop.ts';

/** One thing that is measured. */
export interface Scenario {
  /** What the command line calls it. */
  readonly name: string;
  readonly title: string;
  /** Measures, and gives what it found in Markdown. Rejects where what was measured is not what it says. */
  run(workshop: Workshop): Promise<string>;
}
