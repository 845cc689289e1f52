import { expect } from 'chai';
import { startDemoPlatform } from '../../src/demo/platform.ts';
import { aWhile } from '../support/a-while.ts';
import { openConnection } from '../support/raw-http.ts';
import { get, getPage, openRequest } from './lists.ts';

describe('startDemoPlatform', () => {
  it('starts three servers, each with an address of its own on loopback, and with the largest page of its options', async () => {
    const { urls, close } = await startDemoPlatform({ maxPageSize: 2 });
    expect(new Set(Object.values(urls)).size).to.equal(3);
    for (const [api, url] of Object.entries(urls)) {
      expect(new URL(url).hostname).to.equal('127.0.0.1');
      expect(await (await get(`${url}/demo`)).json()).to.have.property('api', api);
    }
    expect((await getPage(urls, 'tools', { pageSize: '100' })).items).to.have.length(2);
    await close();
  });

  it('ends waiting requests and idle connections at once when it is closed', async () => {
    const platform = await startDemoPlatform();
    const { projects, workflows, tools } = platform.urls;
    await fetch(`${projects}/demo?fault=stall`, { method: 'PUT' });
    await fetch(`${workflows}/demo?fault=stall`, { method: 'PUT' });
    await fetch(`${tools}/demo?latencyMs=60000`, { method: 'PUT' });
    const connections = [
      ...[`${projects}/v1/projects`, `${workflows}/v1/workflows`, `${tools}/v1/tools`].map(openRequest),
      openConnection(tools),
    ];
    await aWhile(50);
    await platform.close();
    await Promise.all(connections.map((connection) => connection.closed()));
    expect((await openRequest(projects).closed()).error).to.equal('ECONNREFUSED');
    // It can be closed again.
    await Promise.all([platform.close(), platform.close()]);
  });
});
