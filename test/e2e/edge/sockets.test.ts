import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { inFolder, runPortico, writeSettings } from '../../support/process/process.ts';
import { servedFrom } from '../../support/process/serving.ts';
import { exchange, get } from '../../support/raw-http.ts';

const LIST = '/mcp/v1/resources';

describe('the Unix socket of a process', () => {
  it('prevents the start of a second process', async () => {
    await inFolder(async (folder) => {
      const socketPath = join(folder, 'portico.sock');
      const settings = servedFrom('http://127.0.0.1:9', { http: { socketPath }, admin: { enabled: false } });
      const file = await writeSettings(folder, settings);
      const first = runPortico(['--config', file]);
      const url = await first.ready;
      const { code, stderr } = await runPortico(['--config', file]).ended;
      expect(code).to.equal(1);
      expect(stderr).to.contain(socketPath).and.contain('EADDRINUSE');
      expect((await exchange(url, get(LIST))).status).to.equal(200);
      expect((await first.stop()).code).to.equal(0);
      expect(existsSync(socketPath)).to.equal(false);
    });
  });
});

describe('a connection to a gateway', () => {
  it('may be silent for longer than sendTimeoutMs while the platform is slow', async () => {
    const tools = lists({ tools: [{ id: 'a', name: 'A' }] });
    const platform = await startHttpUpstream(
      (request, response) => void setTimeout(() => tools(request, response), 1500),
    );
    const { read } = await startGateway(settingsFor(platform.url, { http: { sendTimeoutMs: 300 } }));
    expect((await read('tools')).status).to.equal(200);
  });
});
