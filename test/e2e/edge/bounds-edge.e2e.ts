import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { listOf, lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { toolItem } from '../../support/platform/loads.ts';
import type { RawResponse } from '../../support/platform/raw-response.ts';
import { boundedSettings } from '../../support/process/limits-of-process.ts';
import type { PorticoProcess } from '../../support/process/process.ts';
import { residentBytes } from '../../support/process/resident-bytes.ts';
import { startServing } from '../../support/process/serving.ts';
import { exchange, get, openConnection, type RawConnection, requestText } from '../../support/raw-http.ts';
import { postText, RPC_FIELDS, readOf } from '../../support/rpc.ts';

const LIST = '/mcp/v1/resources';
const read = (name: string) => `${LIST}/read?uri=platform://${name}`;

/** What of the heap a process has that is sent too much. */
const HEAP = { NODE_OPTIONS: '--max-old-space-size=256' };
/** All that such a process may take, buffers included. */
const MAX_RSS_BYTES = 600_000_000;

/** A platform that serves these lists, but for `workflows` once it is told to. */
async function startHangingPlatform(items: Parameters<typeof lists>[0]) {
  const waiting: (() => void)[] = [];
  const serve = lists(items);
  let isPatient = true;
  const upstream = await startHttpUpstream(
    (request, response: ServerResponse) => {
      if (isPatient && listOf(request) !== 'workflows') waiting.push(() => serve(request, response));
      else serve(request, response);
    },
    { record: false },
  );
  return {
    url: upstream.url,
    waiting,
    release() {
      isPatient = false;
      for (const go of waiting.splice(0)) go();
    },
  };
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
  const { yaml, env } = boundedSettings(settings, HEAP);
  const portico = await startServing(yaml, env);
  await work(portico, portico.url);
  expect(await residentBytes(portico)).to.be.below(MAX_RSS_BYTES);
  expect((await portico.stop('SIGKILL')).signal).to.equal('SIGKILL');
}

const outcomes = ({ stdout }: PorticoProcess) => [...stdout().matchAll(/"outcome":"(\w+)"/g)].map(([, name]) => name);

describe('a process with a heap of 128 MB', () => {
  it('closes a connection with 7 MB of reads while the platform hangs', async () => {
    const platform = await startHangingPlatform({ tools: [toolItem('one')] });
    await withProcess(platform.url, '', async (portico, url) => {
      const connection = openConnection(url);
      connection.socket.on('error', () => {});
      const request = get(read('tools'));
      connection.send(request.repeat(Math.ceil(7_000_000 / request.length)));
      await eventually(() => connection.socket.destroyed);
      await eventually(() => outcomes(portico).includes('overloaded'));
      for (let count = 0; count < 20; count += 1) {
        expect((await exchange(url, get(LIST))).status).to.equal(200);
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

  it('rejects bodies in chunks of one byte', async () => {
    const platform = await startHttpUpstream(lists({}), { record: false });
    await withProcess(platform.url, 'requestTimeoutMs: 300000', async (_portico, url) => {
      const connections = Array.from({ length: 8 }, () => openConnection(url));
      for (const connection of connections) {
        connection.socket.on('error', () => {});
        connection.send(
          requestText('POST', '/mcp', { ...RPC_FIELDS, 'Transfer-Encoding': 'chunked' }) + '1\r\n \r\n'.repeat(400_000),
        );
      }
      for (const connection of connections) {
        const { status, body } = await connection.receive();
        expect({ status, code: JSON.parse(body.toString()).code }).to.deep.equal({
          status: 400,
          code: 'invalid_request',
        });
        await eventually(() => connection.socket.destroyed);
      }
      expect((await exchange(url, get(LIST))).status).to.equal(200);
    });
  });
});

describe('reads that wait for a platform', () => {
  let platform: Awaited<ReturnType<typeof startHangingPlatform>>;
  const start = (bounds: object) => startGateway({ ...settingsFor(platform.url), ...bounds });
  const of = (caller: string) => ({ Authorization: `Bearer ${caller}` });

  beforeEach(async () => {
    platform = await startHangingPlatform({ tools: [toolItem('one')] });
  });

  async function waitingReads(url: string, count: number, caller: string): Promise<RawConnection[]> {
    const connections = Array.from({ length: count }, () => {
      const connection = openConnection(url);
      connection.send(get(read('tools'), of(caller)));
      return connection;
    });
    await eventually(() => platform.waiting.length > 0);
    return connections;
  }

  it('are bounded per caller, over both edges, without delay for other callers', async () => {
    const { url } = await start({ maxWaitingPerCaller: 10 });
    const connections = await waitingReads(url, 15, 'greedy');
    const refused: RawResponse[] = [];
    await eventually(() => {
      refused.push(...connections.flatMap((connection) => connection.arrived()));
      return refused.length === 5;
    });
    for (const response of refused) {
      expect(response.status).to.equal(503);
      expect(response.headers.get('retry-after')).to.equal('1');
      expect(response.json()).to.include({ code: 'overloaded' });
    }
    const fields = { ...of('greedy'), 'MCP-Protocol-Version': '2025-06-18' };
    const answer = await exchange(url, postText(readOf('projects'), fields));
    expect(answer.json<{ error: { data: object } }>().error.data).to.include({ code: 'overloaded' });
    const modest = openConnection(url);
    modest.send(get(read('tools'), of('modest')));
    await eventually(() => platform.waiting.length === 2);
    platform.release();
    expect((await modest.receive()).status).to.equal(200);
    const answered = await eventually(() => {
      const found = connections.flatMap((connection) => connection.arrived());
      return found.length > 0 && found;
    });
    expect(answered.map(({ status }) => status)).to.include(200);
  });
});
