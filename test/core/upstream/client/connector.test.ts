import { expect } from 'chai';
import { asking, calm, closed, errorOf, useHarness } from '../harness.ts';

describe('a connection that does not open', () => {
  const { serveRaw, open } = useHarness();

  it('is upstream_timeout after connectTimeoutMs, and closes', async () => {
    const { url, sockets } = await serveRaw(() => {});
    const upstream = open(url.replace('http:', 'https:'), { connectTimeoutMs: 100 });
    expect(await errorOf(upstream.get(asking(), calm()))).to.include({
      code: 'upstream_timeout',
      upstream: 'projects',
      reason: 'the connection did not open in time',
      retryable: 'connect',
      fault: true,
    });
    await closed(sockets);
  });

  it('rejects its request at once when the upstream is closed, and closes after connectTimeoutMs', async () => {
    const arrived = Promise.withResolvers<void>();
    const { url, sockets } = await serveRaw(() => arrived.resolve());
    const upstream = open(url.replace('http:', 'https:'), { connectTimeoutMs: 200 });
    const reading = errorOf(upstream.get(asking(), calm()));
    await arrived.promise;
    await upstream.close();
    expect((await reading).code).to.equal('draining');
    await closed(sockets);
  });
});
