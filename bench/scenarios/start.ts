import { setTimeout as sleep } from 'node:timers/promises';
import { BUILT, build } from '../build.ts';
import { createClient } from '../client.ts';
import { SERVER_CORE } from '../cores.ts';
import { writeSettings } from '../portico.ts';
import { freePort } from '../ports.ts';
import { median, table } from '../report.ts';
import type { Scenario } from '../scenario.ts';
import { ours } from '../server.ts';
import type { Workshop } from '../workshop.ts';

const STARTS = 10;

/** From the start of the process to the first 200 of `/readyz`, as npm installs it and as the image holds it, by turns. */
export const start: Scenario = {
  name: 'start',
  title: 'Start to ready',
  async run(workshop) {
    build();
    const port = await freePort();
    // No platform is asked before a caller asks.
    const file = await writeSettings(workshop, 'http://127.0.0.1:9', { http: { port } });
    const ways = [
      { name: 'from the package', environment: {}, times: [] as number[] },
      { name: 'compiled beforehand', environment: { NODE_COMPILE_CACHE: workshop.folder }, times: [] as number[] },
    ];
    // The first one brings the files into memory, and compiles them for those that follow.
    for (let round = 0; round <= STARTS; round += 1) {
      for (const { environment, times } of ways) {
        const args = [ours(BUILT), 'serve', '--config', file];
        const time = await startOnce(workshop, args, environment, `http://127.0.0.1:${port}/readyz`);
        if (round > 0) times.push(time);
      }
    }
    const rows = ways.map(({ name, times }) => [
      name,
      ...[Math.min(...times), median(times), Math.max(...times)].map((ms) => `${ms.toFixed(0)} ms`),
    ]);
    return table(['', 'Fastest', `Median of ${STARTS}`, 'Slowest'], rows);
  },
};

/** In milliseconds. */
async function startOnce(
  workshop: Workshop,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  url: string,
): Promise<number> {
  const client = createClient();
  const begun = performance.now();
  const portico = workshop.run(SERVER_CORE, process.execPath, args, environment);
  let status = 0;
  while (status !== 200 && portico.child.exitCode === null) {
    await sleep(2);
    status = await client.read(url, 'bench').then(
      (reply) => reply.status,
      () => 0,
    );
  }
  const ms = performance.now() - begun;
  client.close();
  await portico.stop();
  if (status !== 200) throw new Error('Portico ended before it was ready');
  return ms;
}
