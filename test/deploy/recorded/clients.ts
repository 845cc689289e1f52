import { connect } from 'node:net';
import { onCleanup } from '../../support/cleanup.ts';
import { nextToken, portOf, repeat, type Scenarios, sendReads } from './scene.ts';

function openIdle(url: string, connections: number): void {
  for (let count = 0; count < connections; count += 1) {
    const socket = connect(portOf(url), '127.0.0.1').on('error', () => {});
    onCleanup(() => socket.destroy());
  }
}

/** Clients that need more than there is. */
export const CLIENTS: Scenarios = {
  'a caller above its limit': {
    settings: () => ({ limits: { perCaller: 100 } }),
    reads: [],
    provoke: ({ url }) => sendReads(url, 10),
    faulty: 60,
    fires: ['PorticoRateLimited'],
    shows: [/^rate limits: \d+ rejected in the last minute$/],
    reason: /^limits\.perCaller is reached: 100 in 60 s$/,
  },
  'a cache that is too small for its callers': {
    settings: () => ({ cache: { maxBytes: 65_536 } }),
    provoke: (scene) => void repeat(() => scene.read('workflows', nextToken()), 5),
    faulty: 120,
    fires: ['PorticoSnapshotsCrowded'],
    shows: [/^cache: \d+ of \d+ stored lists evicted for others in ten minutes$/],
  },
  'a listener with as many connections as it accepts': {
    settings: () => ({ http: { maxConnections: 20 } }),
    reads: [],
    provoke: ({ url }) => openIdle(url, 20),
    fires: ['PorticoConnectionsFull'],
    shows: [/^http listener: 20 of 20 connections open$/],
  },
  'a process with few descriptors': {
    command: ['prlimit', '--nofile=1000:1000'],
    reads: [],
    // Fewer connections are accepted than that limit.
    provoke: ({ url }) => openIdle(url, 850),
    fires: ['PorticoConnectionsFull', 'PorticoDescriptorsShort'],
    shows: [
      /^descriptors: \d+ of 1000 open$/,
      /^http listener: \d+ of \d+ connections open$/,
      /^http\.maxConnections: \d+ times reached in ten minutes$/,
    ],
  },
};
