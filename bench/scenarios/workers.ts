import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../client.ts';
import { BOTH_CORES } from '../cores.ts';
import { servePlatform } from '../platform.ts';
import { HELD, READ, servePortico, warmUp } from '../portico.ts';
import { paired } from '../turns.ts';

/** Until the second worker listens, too. */
const STARTED_MS = 1000;

/** Of each process: the more requests it finds at a time, the less each of them costs. */
const CONNECTIONS = 32;

/** Processor time of a read with two workers on both cores, the primary process included, and with one process on both. */
export const workers = paired(
  'workers',
  [{ name: 'two workers : one process, on two cores', of: 'two', to: 'one', by: 'cpu', aim: 0.9 }],
  async (workshop) => {
    const client = createClient();
    const platform = await servePlatform(workshop);
    const open = async (count: number) => {
      const args = ['--workers', String(count)];
      const server = await servePortico(workshop, platform.url, { cores: BOTH_CORES, settings: HELD, args });
      await sleep(count > 1 ? STARTED_MS : 0);
      const url = `${server.url}${READ}tools`;
      await warmUp(client, url);
      return { server, load: { url, connections: count * CONNECTIONS } };
    };
    const contenders = { two: await open(2), one: await open(1) };
    client.close();
    return { contenders };
  },
);
