import type { Experiment, Scenario } from './scenario.ts';
import { cached } from './scenarios/cached.ts';
import { capabilities } from './scenarios/capabilities.ts';
import { forms } from './scenarios/forms.ts';
import { instructions } from './scenarios/instructions.ts';
import { large } from './scenarios/large.ts';
import { mcp } from './scenarios/mcp.ts';
import { memory } from './scenarios/memory.ts';
import { pages } from './scenarios/pages.ts';
import { processes } from './scenarios/processes.ts';
import { start } from './scenarios/start.ts';
import { uncached } from './scenarios/uncached.ts';

/** All that `npm run bench` measures, in this order. */
export const SCENARIOS: readonly Scenario[] = [
  ...[cached, forms, mcp, uncached, capabilities, processes],
  ...[pages, large, start, memory],
];

/** What it runs by name only. */
export const EXPERIMENTS: readonly Experiment[] = [instructions];
