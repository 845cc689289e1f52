import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { inFolder, runPortico, writeSettings } from '../../support/process/process.ts';
import { exchange, get } from '../../support/raw-http.ts';

const headers = { authorization: 'Bearer token-of-the-test' };

const settings = (baseUrl: string, more = '') => `
http: { port: 0 }
admin: { port: 0 }
${more}
upstreams:
  projects: { baseUrl: ${baseUrl} }
  workflows: { baseUrl: ${baseUrl} }
  tools: { baseUrl: ${baseUrl} }
`;

/** A platform that answers a read of tools when it is told to. */
async function startPatientPlatform() {
  const { promise: waiting, resolve } = Promise.withResolvers<ServerResponse>();
  const upstream = await startHttpUpstream((_request, response) => resolve(response));
  return { upstream, waiting };
}

describe('the shutdown of the process', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`finishes requests in flight on ${signal}, and exits with 0`, async () => {
      const { upstream, waiting } = await startPatientPlatform();
      await inFolder(async (folder) => {
        const portico = runPortico(['--config', await writeSettings(folder, settings(upstream.url))]);
        const url = await portico.ready;
        const reading = fetch(`${url}/mcp/v1/resources/read?uri=platform://tools`, { headers });
        const response = await waiting;
        portico.child.kill(signal);
        await refused(url);
        response.end('{"tools":[{"id":"a","name":"A"}],"nextPageToken":""}');
        const { status, headers: received } = await reading;
        expect(status).to.equal(200);
        expect(received.get('connection')).to.equal('close');
        const { code, stderr } = await portico.ended;
        expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      });
      await upstream.close();
    });
  }

  it('exits with 1 when a request outlasts the grace time', async () => {
    const { upstream, waiting } = await startPatientPlatform();
    await inFolder(async (folder) => {
      const file = await writeSettings(folder, settings(upstream.url, 'shutdown: { graceMs: 100 }'));
      const portico = runPortico(['--config', file]);
      const url = await portico.ready;
      const reading = fetch(`${url}/mcp/v1/resources/read?uri=platform://tools`, { headers }).catch(() => 'cut');
      await waiting;
      const { code, stdout } = await portico.stop();
      expect(await reading).to.equal('cut');
      expect(code).to.equal(1);
      expect(stdout).to.contain('cut off');
    });
    await upstream.close();
  });

  it('is immediate on a second signal', async () => {
    const { upstream, waiting } = await startPatientPlatform();
    await inFolder(async (folder) => {
      const portico = runPortico(['--config', await writeSettings(folder, settings(upstream.url))]);
      const url = await portico.ready;
      fetch(`${url}/mcp/v1/resources/read?uri=platform://tools`, { headers }).catch(() => {});
      await waiting;
      portico.child.kill('SIGTERM');
      await refused(url);
      portico.child.kill('SIGTERM');
      expect((await portico.ended).code).to.equal(1);
    });
    await upstream.close();
  });

  it('is announced by /readyz for shutdown.delayMs while reads are answered', async () => {
    const upstream = await startHttpUpstream((_request, response) => response.end('{"tools":[]}'));
    await inFolder(async (folder) => {
      const file = await writeSettings(folder, settings(upstream.url, 'shutdown: { delayMs: 3000 }'));
      const portico = runPortico(['--config', file]);
      const url = await portico.ready;
      expect((await fetch(`${url}/readyz`)).status).to.equal(200);
      portico.child.kill('SIGTERM');
      const ready = await eventually(async () => {
        const response = await fetch(`${url}/readyz`);
        return response.status !== 200 && response;
      });
      expect(await ready.json()).to.include({ status: 503, code: 'draining' });
      expect((await fetch(`${url}/livez`)).status).to.equal(200);
      expect((await fetch(`${url}/mcp/v1/resources/read?uri=platform://tools`, { headers })).status).to.equal(200);
      expect((await portico.ended).code).to.equal(0);
    });
    await upstream.close();
  });
});

describe('the process', () => {
  it('starts and is ready with every upstream down', async () => {
    await inFolder(async (folder) => {
      const portico = runPortico(['--config', await writeSettings(folder, settings('http://127.0.0.1:9'))]);
      const url = await portico.ready;
      expect((await fetch(`${url}/readyz`)).status).to.equal(200);
      expect((await fetch(`${url}/mcp/v1/resources`, { headers })).status).to.equal(200);
      const adminUrl = /"adminUrl":"([^"]+)"/.exec(portico.stdout())?.[1];
      expect((await fetch(`${adminUrl}/livez`)).status).to.equal(200);
      expect((await fetch(`${adminUrl}/mcp/v1/resources`, { headers })).status).to.equal(404);
      expect((await portico.stop()).code).to.equal(0);
    });
  });

  it('listens on a Unix socket and removes it', async () => {
    await inFolder(async (folder) => {
      const socketPath = join(folder, 'portico.sock');
      const file = await writeSettings(
        folder,
        settings('http://127.0.0.1:9').replace('http: { port: 0 }', `http: { socketPath: ${socketPath} }`),
      );
      const portico = runPortico(['--config', file]);
      expect(await portico.ready).to.equal(`unix:${socketPath}`);
      expect((await exchange(`unix:${socketPath}`, get('/mcp/v1/resources'))).status).to.equal(200);
      expect((await portico.stop()).code).to.equal(0);
      const again = runPortico(['--config', file]);
      await again.ready;
      expect((await again.stop()).code).to.equal(0);
    });
  });
});

/** Waits until nobody accepts connections at `url` any more. */
function refused(url: string): Promise<boolean> {
  return eventually(async () => {
    try {
      await (await fetch(`${url}/livez`, { headers: { connection: 'close' } })).arrayBuffer();
      return false;
    } catch {
      return true;
    }
  });
}
