import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../client.ts';
import { BOTH_CORES } from '../cores.ts';
import { servePlatform } from '../platform.ts';
import { HELD, READ, servePortico, warmUp } from '../portico.ts';
import { paired } from '../turns.ts';

/** Until the second process listens, too. */
const STARTED_MS = 1000;

/** Of each process: the more requests it finds at a time, the less each of them costs. */
const CONNECTIONS = 32;

/** Processor time of a read with two processes on one port and both cores, and with one process on both. */
export const processes = paired(
  'processes',
  [{ name: 'two processes on one port : one process, on two cores', of: 'two', to: 'one', by: 'cpu', aim: 0.9 }],
  async (workshop) => {
    const client = createClient();
    const platform = await servePlatform(workshop);
    const open = async (count: number) => {
      const settings = { ...HELD, http: { reusePort: true } };
      const server = await servePortico(workshop, platform.url, { cores: BOTH_CORES, settings, processes: count });
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
