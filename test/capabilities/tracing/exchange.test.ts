import { expect } from 'chai';
import { startAuthorizationServer } from '../../support/authorization/authorization-server.ts';
import { as } from '../../support/authorization/caller.ts';
import { startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { startCollector } from '../../support/process/collector.ts';
import { echo, gatewayAt, givenFor } from '../token-exchange/exchanging.ts';

describe('an exchange of tokens', () => {
  it('is traced below the page that it was made for', async () => {
    const server = await startAuthorizationServer();
    const collector = await startCollector();
    const platform = await startHttpUpstream(echo);
    const tracing = { enabled: true, sampleRatio: 1, endpoint: `${collector.url}/v1/traces` };
    const { gateway, read } = await gatewayAt(platform, server.issuer, { settings: { tracing } });
    const token = await server.issue({ resource: 'https://portico.example/mcp', subject: 'ada' });
    const given = await givenFor(await read('tools', as(token)));
    await gateway.close();
    const page = collector.one('page tools');
    const calls = collector.spans.filter(({ parentId }) => parentId === page.spanId);
    const called = calls.map(({ name, attributes }) => [name, attributes['portico.upstream']]);
    expect(called).to.deep.equal([
      ['GET', 'tools.exchange'],
      ['POST', 'tools.exchange'],
      ['GET', 'tools'],
    ]);
    expect(new Set(calls.map(({ traceId }) => traceId)).size).to.equal(1);
    for (const each of [token, given]) expect(collector.bodies.join()).not.to.contain(each);
  });
});
