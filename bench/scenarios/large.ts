import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../client.ts';
import { quantile } from '../figures.ts';
import { pagedProjects, servePlatform } from '../platform.ts';
import { READ, servePortico } from '../portico.ts';
import type { Scenario } from '../scenario.ts';
import { measure } from '../wrk.ts';

const ITEMS = 100_000;
const PAGE = 1000;
const EVERY_MS = 4;
/** Each is a value: long enough for several large reads, and for 750 others. */
const SECONDS = 3;
const ROW = { name: 'p99 of cached reads beside reads of 100,000 items', unit: 'ms', aim: 20 } as const;

/** How long a caller who reads from cache waits while another one reads a list a thousand times as long. */
export const large: Scenario = {
  name: 'large',
  rows: [ROW],
  async run(workshop) {
    const client = createClient();
    const platform = await servePlatform(workshop, { projects: ITEMS });
    const settings = { resources: { projects: pagedProjects(PAGE) } };
    const { url } = await servePortico(workshop, platform.url, { settings });
    const readTools = async () => {
      const { status } = await client.read(`${url}${READ}tools`, 'small');
      if (status !== 200) throw new Error(`Portico answered ${status}`);
    };
    const load = { url: `${url}${READ}projects`, callers: 1, connections: 1 };
    const values: number[] = [];
    const { processes, rounds } = workshop.pace;
    for (let turn = 0; turn < (processes * rounds) / 2 + 1; turn += 1) {
      const times = await paced(EVERY_MS, measure(workshop, SECONDS, load), readTools);
      if (turn > 0) values.push(quantile(times, 0.99)); // The first one warms up.
    }
    client.close();
    return new Map([[ROW.name, { values }]]);
  },
};

/**
 * Begins `work` at a steady pace, however long the last one takes, so that a pause delays all that begin during it. Continues until
 * `ended`, and returns how long each took, in milliseconds. Rejects as soon as one fails.
 */
async function paced(everyMs: number, ended: Promise<unknown>, work: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  const running: Promise<void>[] = [];
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  ended.then(end, end);
  for (let due = performance.now(); !isOver; due += everyMs) {
    const early = due - performance.now();
    if (early > 0) await sleep(early);
    const one = timed();
    one.catch(end);
    running.push(one);
  }
  await Promise.all(running);
  await ended;
  return times;

  async function timed(): Promise<void> {
    const begun = performance.now();
    await work();
    times.push(performance.now() - begun);
  }
}
