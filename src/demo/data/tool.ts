/** A tool as the demo platform sends it. Portico's contract has the first five fields only. */
export interface DemoTool {
  readonly id: string;
  readonly name: string;
  /** Dotted, as its publisher numbers it: some have two parts. */
  readonly version: string;
  readonly category: string;
  readonly description: string;
  readonly publisher: string;
  readonly targets: readonly string[];
  readonly installed: boolean;
}
