import { expect } from 'chai';
import { readVersion } from '../../../src/core/kernel/version.ts';
import { PARENT, SAMPLED } from '../../capabilities/tracing/traced.ts';
import { captureLog } from '../../core/log/captured-log.ts';
import { onCleanup } from '../../support/cleanup.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { type HttpUpstream, lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { type Collector, startCollector } from '../../support/process/collector.ts';
import { READ_TOOLS } from '../../support/process/serving.ts';
import { exchange, get } from '../../support/raw-http.ts';

describe('a gateway with tracing', function () {
  this.timeout(60_000);
  let platform: HttpUpstream;
  let collector: Collector;

  beforeEach(async () => {
    platform = await startHttpUpstream(lists({ tools: [{ id: 'a', name: 'A' }] }));
    collector = await startCollector();
  });

  const environment = () => ({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-api-key=key-of-the-test',
    OTEL_SERVICE_NAME: 'portico-of-the-test',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
  });

  it('sends pending spans before it has closed, with what the environment names, and logs trace ids', async () => {
    Object.assign(process.env, environment());
    onCleanup(() => {
      for (const name of Object.keys(environment())) delete process.env[name];
    });
    const log = captureLog('info');
    const tracing = { enabled: true, sampleRatio: 1, intervalMs: 86_400_000 };
    const settings = settingsFor(platform.url, { admin: { port: 0 }, log: { level: 'info' }, tracing });
    const { gateway, url } = await startGateway(settings, { logger: log.logger });
    await exchange(url, get(READ_TOOLS));
    await exchange(url, get(READ_TOOLS, { traceparent: SAMPLED }));
    expect((await exchange(gateway.adminUrl ?? '', get('/'))).status).to.equal(200);
    await gateway.close();
    const [first, second, ...others] = collector.all('GET /mcp/v1/resources/read');
    expect(others).to.deep.equal([]);
    const lines = log.lines().filter(({ route }) => route === '/mcp/v1/resources/read');
    expect(lines.map(({ traceId }) => traceId)).to.deep.equal([first?.traceId, second?.traceId]);
    expect(second?.traceId).to.equal(PARENT.traceId);
    expect(first?.resource).to.include({
      'service.name': 'portico-of-the-test',
      'deployment.environment.name': 'test',
      'service.version': readVersion(),
    });
    expect(collector.headers[0]).to.include({ 'x-api-key': 'key-of-the-test' });
    // The admin listener has no spans.
    expect(Object.keys(collector.tree())).to.have.length(1);
  });
});
