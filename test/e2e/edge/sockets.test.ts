import { expect } from 'chai';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';

describe('a connection to a gateway', () => {
  it('may be silent for longer than sendTimeoutMs while the platform is slow', async () => {
    const tools = lists({ tools: [{ id: 'a', name: 'A' }] });
    const platform = await startHttpUpstream(
      (request, response) => void setTimeout(() => tools(request, response), 600),
    );
    const { read } = await startGateway(settingsFor(platform.url, { http: { sendTimeoutMs: 100 } }));
    expect((await read('tools')).status).to.equal(200);
  });
});
