import { setTimeout as sleep } from 'node:timers/promises';
import { childrenOf } from '../../support/process/process.ts';
import { repeat, type Scenarios } from './scene.ts';

export const PROCESSES: Scenarios = {
  'a healthy platform': { reads: ['tools', 'projects'], provoke: () => {}, faulty: 80, fires: [], shows: [] },
  'a process that is gone': {
    provoke: ({ portico }) => void portico.child.kill('SIGKILL'),
    fires: ['PorticoDown'],
    withoutLine: { PorticoDown: 'there is no process' },
  },
  'a scrape job that is gone': {
    provoke: () => {},
    isScraped: false,
    fires: ['PorticoAbsent'],
    withoutLine: { PorticoAbsent: 'the process is not at fault' },
  },
  'a bug': {
    env: {
      NODE_OPTIONS: `--import data:text/javascript,globalThis.n=0,process.memoryUsage.rss=()=>{if(!n++)throw(new(Error));return(1)}`,
    },
    // One is enough, for 15 minutes.
    provoke: ({ adminUrl }) => fetch(`${adminUrl}/status`).then((response) => response.text()),
    faulty: 20,
    fires: ['PorticoInternalError'],
    shows: [/^Portico: 1 requests failed by a bug in ten minutes$/],
  },
  'workers that are killed': {
    args: ['--workers', '2'],
    provoke: ({ portico: { child } }) =>
      void repeat(async () => {
        const [worker] = await childrenOf(child.pid ?? 0);
        if (worker !== undefined) process.kill(worker, 'SIGKILL');
      }, 1500),
    faulty: 80,
    fires: ['PorticoWorkersEnding'],
    shows: [/^workers: 1 of 2 answer$/],
    flickers: true,
  },
  'a process without processor time': {
    provoke({ portico: { child } }) {
      const end = repeat(async () => {
        child.kill('SIGSTOP');
        await sleep(400);
        child.kill('SIGCONT');
        await sleep(200);
      }, 0);
      setTimeout(end, 5000);
    },
    fires: ['PorticoEventLoopLate'],
    shows: [/^event loop: p95 of its delay \d+ ms in the last minute$/],
  },
};
