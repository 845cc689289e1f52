import { createServer } from 'node:http';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Status } from '../../../src/capabilities/status/gateway-status.ts';
import { onCleanup } from '../../support/cleanup.ts';
import { eventually } from '../../support/eventually.ts';
import { metric } from '../../support/fleet/replicas.ts';
import { listen } from '../../support/listening.ts';
import { type HttpUpstream, json, lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { linesIn } from '../../support/process/json-lines.ts';
import { childrenOf, type PorticoProcess, runPortico, writeSettings } from '../../support/process/process.ts';
import { newFolder, READ_TOOLS, servedFrom, startWorkers } from '../../support/process/serving.ts';

type Fleet = Awaited<ReturnType<typeof startWorkers>>;

const WORKERS = 2;
const ITEM = { id: '1', name: 'N', version: '1', category: 'C', description: 'D' };

describe('portico serve --workers', function () {
  this.timeout(60_000);
  let platform: HttpUpstream;

  before(async () => {
    platform = await startHttpUpstream(lists({ tools: [ITEM] }));
  });

  const start = (settings: object = {}, baseUrl = platform.url) => startWorkers(servedFrom(baseUrl, settings));

  const read = (fleet: Fleet, token = 'token-of-the-test', requestId = 'one') => {
    const headers = { authorization: `Bearer ${token}`, connection: 'close', 'x-request-id': requestId };
    return fetch(`${fleet.url}${READ_TOOLS}`, { headers });
  };

  const workersOf = (fleet: Fleet) => childrenOf(fleet.child.pid ?? 0);

  describe('as one process', () => {
    let fleet: Fleet;

    before(async () => {
      fleet = await start({ watchSettings: false });
    });

    it('answers on one port, with the metrics and the status of all workers', async () => {
      for (let index = 0; index < 6; index += 1) expect((await read(fleet)).status).to.equal(200);
      const served = ['hit', 'miss'].map((cache) =>
        metric(fleet, `portico_reads_total{resource="tools",cache="${cache}"}`),
      );
      // Connections go to the workers in turn, and each loads the list once.
      expect(await Promise.all(served)).to.deep.equal([4, 2]);
      expect(await metric(fleet, 'portico_workers{state="ready"}')).to.equal(WORKERS);
      const status = (await (await fetch(`${fleet.adminUrl}/status`)).json()) as Status;
      expect(status.snapshots).to.include({ hits: 4, misses: 2, entries: 2 });
      expect(status.upstreams.map(({ total }) => total)[2]).to.include({ requests: 2, failures: 0 });
      const page = await (await fetch(`${fleet.adminUrl}/`)).text();
      expect(page).to.include('closed');
      expect((await fetch(`${fleet.adminUrl}/readyz`)).status).to.equal(200);
    });

    it('keeps a stopped worker from delaying the metrics of the others for long', async () => {
      const [stopped = 0] = await workersOf(fleet);
      process.kill(stopped, 'SIGSTOP');
      try {
        const response = await fetch(`${fleet.adminUrl}/metrics`);
        expect(response.status).to.equal(200);
        expect(await response.text()).to.include('portico_reads_total{');
      } finally {
        process.kill(stopped, 'SIGCONT');
      }
    });

    it('reloads all workers on SIGHUP', async () => {
      const folder = dirname(fleet.file);
      const off = { watchSettings: false, resources: { tools: { enabled: false } } };
      for (const [settings, status] of [
        [off, 404],
        [{ watchSettings: false }, 200],
      ] as const) {
        const changed = () => messages(fleet, 'settings changed').length;
        const before = changed();
        await writeSettings(folder, servedFrom(platform.url, settings));
        fleet.child.kill('SIGHUP');
        await eventually(() => changed() === before + WORKERS);
        const statuses = await Promise.all(Array.from({ length: 6 }, async () => (await read(fleet)).status));
        expect(new Set(statuses)).to.deep.equal(new Set([status]));
      }
    });

    it('writes whole lines of all workers to one log, whose level changes for all', async () => {
      await Promise.all(Array.from({ length: 200 }, () => read(fleet, 'token-of-many', 'of-many')));
      const changed = await fetch(`${fleet.adminUrl}/log`, { method: 'PUT', body: '{"level":"error","forMs":60000}' });
      expect(await changed.json()).to.include({ level: 'error' });
      for (let index = 0; index < 4; index += 1) await read(fleet, 'token-of-many', 'of-many');
      await eventually(() => messages(fleet, 'log level changed').length >= WORKERS);
      const lines = messages(fleet, 'request').filter(({ requestId }) => requestId === 'of-many');
      expect(lines).to.have.length(200);
      expect(messages(fleet, 'log level changed')).to.have.length(WORKERS);
    });

    it('ends its workers when it is killed', async () => {
      const workers = await workersOf(fleet);
      expect(workers).to.have.length(WORKERS);
      await fleet.stop('SIGKILL');
      await eventually(() => workers.every((pid) => !isAlive(pid)));
    });
  });

  it('replaces a worker that was killed, and fails no request of the others', async () => {
    const fleet = await start();
    const [victim = 0] = await workersOf(fleet);
    expect(await metric(fleet, 'portico_reads_total{resource="tools",cache="miss"}')).to.equal(0);
    for (let index = 0; index < 4; index += 1) await read(fleet);
    expect(await metric(fleet, 'portico_reads_total{resource="tools",cache="miss"}')).to.equal(2);
    // Later than the pause between two starts.
    await sleep(1000);
    process.kill(victim, 'SIGKILL');
    await eventually(() => linesOf(fleet).some(({ msg, pid }) => msg === 'worker ended' && pid === victim));
    const statuses = await Promise.all(Array.from({ length: 40 }, async () => (await read(fleet)).status));
    expect(new Set(statuses)).to.deep.equal(new Set([200]));
    await eventually(async () => (await metric(fleet, 'portico_workers{state="ready"}')) === WORKERS, 20_000);
    expect(await workersOf(fleet))
      .to.have.length(WORKERS)
      .and.not.include(victim);
    expect(await metric(fleet, 'portico_worker_restarts_total')).to.equal(1);
    // What the dead worker has counted is still there.
    expect(await metric(fleet, 'portico_reads_total{resource="tools",cache="miss"}')).to.be.at.least(2);
    const { code, stderr } = await fleet.stop();
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
  });

  it('replaces a worker that was killed while its settings file was wrong, once that is right again', async () => {
    const fleet = await start({ watchSettings: false });
    const [victim = 0] = await workersOf(fleet);
    const folder = dirname(fleet.file);
    await writeSettings(folder, 'http: [');
    process.kill(victim, 'SIGKILL');
    await eventually(() => linesOf(fleet).some(({ msg, code }) => msg === 'worker ended' && code === 2), 20_000);
    expect((await read(fleet)).status).to.equal(200);
    await writeSettings(folder, servedFrom(platform.url, { watchSettings: false }));
    await eventually(async () => (await metric(fleet, 'portico_workers{state="ready"}')) === WORKERS, 20_000);
  });

  it('replaces a worker while signals arrive', async () => {
    const fleet = await start({ watchSettings: false });
    const [victim = 0] = await workersOf(fleet);
    process.kill(victim, 'SIGKILL');
    const reload = setInterval(() => fleet.child.kill('SIGHUP'), 20);
    onCleanup(() => clearInterval(reload));
    await eventually(() => linesOf(fleet).some(({ msg }) => msg === 'worker ended'));
    await eventually(async () => (await metric(fleet, 'portico_workers{state="ready"}')) === WORKERS, 20_000);
    expect(await metric(fleet, 'portico_worker_restarts_total')).to.equal(1);
  });

  it('counts the requests of a caller in all workers together', async () => {
    const fleet = await start({ limits: { perCaller: 10 } });
    const statuses: number[] = [];
    for (let index = 0; index < 40; index += 1) {
      statuses.push((await read(fleet)).status);
      await sleep(20);
    }
    const admitted = statuses.filter((status) => status === 200).length;
    // A worker reports every 100 ms: at most five requests more are admitted by then.
    expect(admitted).to.be.within(10, 15);
    expect((await read(fleet, 'another-caller')).status).to.equal(200);
  });

  it('drains all workers on SIGTERM, even if every process receives it', async () => {
    const slow = await startHttpUpstream((req, res) => {
      setTimeout(() => json({ tools: [ITEM], nextPageToken: '' })(req, res), 1000);
    });
    const fleet = await start({}, slow.url);
    const reads = Array.from({ length: 4 }, (_, index) => read(fleet, `token-${index}`));
    await eventually(() => slow.requests.length === 4);
    for (const pid of await workersOf(fleet)) process.kill(pid, 'SIGTERM');
    const { code } = await fleet.stop();
    expect((await Promise.all(reads)).map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
    expect(code).to.equal(0);
  });

  it('reports a port in use, or wrong settings, once', async () => {
    const { port } = await listen(createServer());
    for (const settings of [{ http: { port } }, { admin: { port } }]) {
      const folder = await newFolder();
      const file = await writeSettings(folder, servedFrom(platform.url, settings));
      const { code, stderr } = await runPortico(['serve', file, '--workers', '2']).ended;
      expect(code).to.equal(1);
      expect(stderr.match(/cannot listen on 127\.0\.0\.1:\d+: the address is in use/g)).to.have.length(1);
    }
    const file = await writeSettings(await newFolder(), 'upstreams: {}');
    const { code, stderr } = await runPortico(['serve', file, '--workers', '2']).ended;
    expect(code).to.equal(2);
    expect(stderr.match(/upstreams/g)).to.have.length(1);
  });
});

function linesOf(portico: PorticoProcess): Record<string, unknown>[] {
  return linesIn(portico.stdout().slice(0, portico.stdout().lastIndexOf('\n') + 1));
}

function messages(portico: PorticoProcess, message: string): Record<string, unknown>[] {
  return linesOf(portico).filter(({ msg }) => msg === message);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
