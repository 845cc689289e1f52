import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { isAnswered, READ_TOOLS, servedFrom, startServing } from '../../support/process/serving.ts';

/** A process, and a read of tools that waits for the response of its platform. */
async function startReading(overrides: object = {}) {
  const { promise: waiting, resolve } = Promise.withResolvers<ServerResponse>();
  const upstream = await startHttpUpstream((_request, response) => resolve(response));
  const portico = await startServing(servedFrom(upstream.url, overrides));
  const reading = portico.ask(READ_TOOLS).catch(() => undefined);
  return { portico, reading, response: await waiting };
}

describe('the shutdown of the process', () => {
  it('finishes requests in flight, and exits with 0', async () => {
    const { portico, reading, response } = await startReading();
    portico.child.kill('SIGINT');
    await eventually(async () => !(await isAnswered(portico.url)));
    // The listener closes two turns before Portico looks at the connections that it has.
    await sleep(100);
    response.end('{"tools":[{"id":"a","name":"A"}],"nextPageToken":""}');
    const received = await reading;
    expect(received?.status).to.equal(200);
    expect(received?.headers.get('connection')).to.equal('close');
    const { code, stderr } = await portico.ended;
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
  });

  it('exits with 1 when a request outlasts the grace time', async () => {
    const { portico, reading } = await startReading({ shutdown: { graceMs: 100 } });
    const { code, stdout } = await portico.stop();
    expect(await reading).to.equal(undefined);
    expect(code).to.equal(1);
    expect(stdout).to.contain('cut off').and.to.contain('"reason":"shutdown.graceMs is over"');
  });

  it('is announced by /readyz for shutdown.delayMs while reads are answered', async () => {
    const platform = await startHttpUpstream((_request, response) => response.end('{"tools":[]}'));
    const { gateway, url, read } = await startGateway(
      settingsFor(platform.url, { admin: { port: 0 }, shutdown: { delayMs: 1000 } }),
    );
    expect((await fetch(`${url}/readyz`)).status).to.equal(200);
    const closing = gateway.close();
    for (const listener of [url, gateway.adminUrl]) {
      const ready = await fetch(`${listener}/readyz`);
      expect(await ready.json()).to.include({ status: 503, code: 'draining' });
    }
    expect((await fetch(`${url}/livez`)).status).to.equal(200);
    expect((await read('tools')).status).to.equal(200);
    expect(await closing).to.equal(true);
  });
});
