import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../client.ts';
import { servePlatform } from '../platform.ts';
import { HELD, READ, servePortico, warmUp } from '../portico.ts';
import { paired } from '../turns.ts';

/** Until the second worker listens, too. */
const STARTED_MS = 1000;

/**
 * Two workers and one process on the same core. By processor time, this is what each of two cores would serve of a process that has a
 * core to itself, apart from what two cores take from each other.
 */
export const workers = paired(
  'workers',
  [{ name: 'two workers : one process, on one core', of: 'two', to: 'one', aim: 0.9 }],
  async (workshop) => {
    const client = createClient();
    const platform = await servePlatform(workshop);
    const open = async (count: number) => {
      const args = ['--workers', String(count)];
      const server = await servePortico(workshop, platform.url, { settings: HELD, args });
      await sleep(count > 1 ? STARTED_MS : 0);
      const url = `${server.url}${READ}tools`;
      await warmUp(client, url);
      return { server, load: { url } };
    };
    const contenders = { two: await open(2), one: await open(1) };
    client.close();
    return { contenders };
  },
);
