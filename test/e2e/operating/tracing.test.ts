import { expect } from 'chai';
import { parse } from 'yaml';
import { readVersion } from '../../../src/core/kernel/version.ts';
import { LOADED, PARENT, SAMPLED } from '../../capabilities/tracing/traced.ts';
import { captureLog } from '../../core/log/captured-log.ts';
import { TOKEN } from '../../support/authorization/caller.ts';
import { onCleanup } from '../../support/cleanup.ts';
import { eventually } from '../../support/eventually.ts';
import { startGateway } from '../../support/gateway.ts';
import { type HttpUpstream, lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { type Collector, startCollector } from '../../support/process/collector.ts';
import { boundedSettings } from '../../support/process/limits-of-process.ts';
import { runStdio } from '../../support/process/process.ts';
import { READ_TOOLS, settingsFile } from '../../support/process/serving.ts';
import { exchange, get } from '../../support/raw-http.ts';

const SETTINGS = `
http: { port: 0 }
admin: { port: 0 }
tracing:
  enabled: true
  sampleRatio: 1
  intervalMs: 86400000
upstreams: { platform: { baseUrl: "\${PLATFORM_URL}" } }
resources:
  projects: { upstream: platform }
  workflows: { upstream: platform }
  tools: { upstream: platform }
shutdown: { graceMs: 10000 }
`;

describe('a process with tracing', function () {
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
    PLATFORM_URL: platform.url,
    PORTICO_TOKEN: TOKEN,
  });

  it('sends pending spans before it has closed, with what the environment names, and logs trace ids', async () => {
    Object.assign(process.env, environment());
    onCleanup(() => {
      for (const name of Object.keys(environment())) delete process.env[name];
    });
    const log = captureLog('info');
    const settings = parse(SETTINGS.replace('${PLATFORM_URL}', platform.url));
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

  it('traces each message of standard input', async () => {
    const { yaml, env } = boundedSettings(SETTINGS, environment());
    const portico = runStdio(await settingsFile(yaml), env);
    const message = (id: number, method: string, params: object) =>
      `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
    portico.child.stdin.write(message(1, 'resources/read', { uri: 'platform://tools' }));
    await eventually(() => portico.stdout().includes('"id":1'));
    const _meta = { traceparent: SAMPLED };
    const call = message(2, 'tools/call', { name: 'list_installed_tools', _meta });
    portico.child.stdin.end(`${call}${message(3, 'none', {})}{`);
    const { code, stderr } = await portico.ended;
    expect(code).to.equal(0);
    expect(collector.tree()).to.deep.equal({
      '1 SERVER resources/read': { '1 INTERNAL read tools': LOADED },
      '2 SERVER _OTHER': {},
    });
    const { traceId, spanId: parentId } = PARENT;
    expect(collector.one('tools/call list_installed_tools')).to.include({ traceId, parentId });
    for (const { traceId } of collector.spans) expect(stderr).to.contain(`"traceId":"${traceId}"`);
  });
});
