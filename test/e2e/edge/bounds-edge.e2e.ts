import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { toolItem } from '../../support/platform/loads.ts';
import { boundedSettings } from '../../support/process/limits-of-process.ts';
import { inFolder, type PorticoProcess, runPortico, writeSettings } from '../../support/process/process.ts';
import { residentBytes } from '../../support/process/resident-bytes.ts';
import { exchange, get, openConnection, type RawConnection } from '../../support/raw-http.ts';

const LIST = '/mcp/v1/resources';
const read = (name: string) => `${LIST}/read?uri=platform://${name}`;

/** What of the heap a process has that is sent too much. */
const HEAP = { NODE_OPTIONS: '--max-old-space-size=256' };
/** All that such a process may take, buffers included. */
const MAX_RSS_BYTES = 600_000_000;

/** A platform that serves these lists once it is told to. */
async function startHangingPlatform(items: Parameters<typeof lists>[0]) {
  const waiting: (() => void)[] = [];
  const serve = lists(items);
  let isHanging = true;
  const { url } = await startHttpUpstream(
    (request, response) => {
      if (isHanging) waiting.push(() => serve(request, response));
      else serve(request, response);
    },
    { record: false },
  );
  const release = () => {
    isHanging = false;
    for (const go of waiting.splice(0)) go();
  };
  return { url, waiting, release };
}

/** Runs `work` with a Portico process of little heap before the platform at `baseUrl`. */
async function withProcess(
  baseUrl: string,
  http: string,
  work: (portico: PorticoProcess, url: string) => Promise<void>,
): Promise<void> {
  const upstream = `{ baseUrl: ${baseUrl}, timeoutMs: 60000, connections: 1000, maxQueue: 10000 }`;
  const settings = `
http: { port: 0, ${http} }
admin: { enabled: false }
upstreams: { projects: ${upstream}, workflows: ${upstream}, tools: ${upstream} }
`;
  await inFolder(async (folder) => {
    const { yaml, env } = boundedSettings(settings, HEAP);
    const portico = runPortico(['--config', await writeSettings(folder, yaml)], env);
    await work(portico, await portico.ready);
    expect(await residentBytes(portico)).to.be.below(MAX_RSS_BYTES);
    expect((await portico.stop('SIGKILL')).signal).to.equal('SIGKILL');
  });
}

const outcomes = ({ stdout }: PorticoProcess) => [...stdout().matchAll(/"outcome":"(\w+)"/g)].map(([, name]) => name);

describe('a process with a heap of 256 MB', () => {
  it('survives 7 MB of reads over one connection while the platform hangs', async () => {
    const platform = await startHangingPlatform({ tools: [toolItem('one')] });
    await withProcess(platform.url, '', async (_portico, url) => {
      const connection = openConnection(url);
      const requests: string[] = [];
      for (let bytes = 0; bytes < 7_000_000; ) {
        const request = get(read('tools'), { 'X-Request-Id': `n${requests.length}` });
        requests.push(request);
        bytes += request.length;
      }
      connection.send(requests.join(''));
      await eventually(() => platform.waiting.length === 1);
      for (let count = 0; count < 20; count += 1) {
        expect((await exchange(url, get(LIST))).status).to.equal(200);
      }
      platform.release();
      for (let index = 0; index < requests.length; index += 1) {
        const { status, headers } = await connection.receive();
        if (status !== 200 || headers.get('x-request-id') !== `n${index}`) expect.fail(`${status} at ${index}`);
      }
    });
  });

  it('survives full socket buffers of reads over many connections while the platform hangs', async () => {
    const platform = await startHangingPlatform({});
    await withProcess(platform.url, '', async (portico, url) => {
      const tiny = 'GET / HTTP/1.1\r\nHost:a\r\n\r\n';
      const connections = Array.from({ length: 100 }, () => {
        const connection = openConnection(url);
        connection.socket.on('error', () => {});
        connection.send(get(read('projects')).repeat(16) + tiny.repeat(3000));
        return connection;
      });
      await eventually(() => outcomes(portico).includes('overloaded'));
      for (let count = 0; count < 20; count += 1) {
        expect((await exchange(url, get(LIST))).status).to.equal(200);
      }
      for (const { socket } of connections) socket.destroy();
    });
  });

  it('survives 200 connections that do not read responses', async () => {
    const projects = Array.from({ length: 1000 }, (_, index) => ({
      id: String(index),
      name: `Project ${index}`,
      description: 'x'.repeat(1000),
    }));
    const platform = await startHttpUpstream(lists({ projects }), { record: false });
    await withProcess(platform.url, 'maxUnsentBytes: 67108864', async (portico, url) => {
      // Who reads is cut off as well where all have read nothing for a while, as on a machine that has much else to do.
      const isRead = async () => {
        const response = await exchange(url, get(read('projects'))).catch(() => undefined);
        return response?.status === 200;
      };
      const greedy: RawConnection[] = [];
      for (let index = 0; index < 200; index += 1) {
        const connection = openConnection(url);
        connection.socket.on('error', () => {});
        connection.socket.pause();
        connection.send(get(read('projects'), { Authorization: `Bearer greedy-${index}` }).repeat(12));
        greedy.push(connection);
        if (index % 20 === 0) await eventually(isRead);
      }
      await eventually(() => outcomes(portico).includes('response_unread'));
      await eventually(isRead);
      for (const { socket } of greedy) socket.destroy();
    });
  });
});
