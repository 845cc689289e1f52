import type { Scenario } from './scenario.ts';
import { cached } from './scenarios/cached.ts';
import { compressed } from './scenarios/compressed.ts';
import { crowd } from './scenarios/crowd.ts';
import { fleetSimulation } from './scenarios/fleet-simulation.ts';
import { koa } from './scenarios/koa.ts';
import { large } from './scenarios/large.ts';
import { mcp } from './scenarios/mcp.ts';
import { memory } from './scenarios/memory.ts';
import { notModified } from './scenarios/not-modified.ts';
import { observed } from './scenarios/observed.ts';
import { pages } from './scenarios/pages.ts';
import { profile } from './scenarios/profile.ts';
import { queueSimulation } from './scenarios/queue-simulation.ts';
import { shared } from './scenarios/shared.ts';
import { sharedFaults } from './scenarios/shared-faults.ts';
import { sizing } from './scenarios/sizing.ts';
import { start } from './scenarios/start.ts';
import { traced } from './scenarios/traced.ts';
import { uncached } from './scenarios/uncached.ts';
import { verified } from './scenarios/verified.ts';

/** All that `npm run bench` measures, in this order. */
export const SCENARIOS: readonly Scenario[] = [
  cached,
  koa,
  observed,
  traced,
  notModified,
  compressed,
  verified,
  uncached,
  mcp,
  crowd,
  pages,
  large,
  memory,
  sizing,
  start,
  shared,
  sharedFaults,
  fleetSimulation,
  queueSimulation,
  profile,
];
