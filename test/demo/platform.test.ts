import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { startDemoPlatform } from '../../src/demo/platform.ts';
import { aWhile } from '../support/a-while.ts';
import { get, getPage } from './lists.ts';
import { openRequest } from './wire.ts';

describe('startDemoPlatform', () => {
  it('starts three servers, each with an address of its own', async () => {
    const platform = await startDemoPlatform();
    expect(new Set(Object.values(platform.urls)).size).to.equal(3);
    for (const [api, url] of Object.entries(platform.urls)) {
      expect(await (await get(`${url}/demo`)).json()).to.have.property('api', api);
    }
    await platform.close();
  });

  it('takes the largest page from its options', async () => {
    const platform = await startDemoPlatform({ maxPageSize: 2 });
    expect((await getPage(platform.urls, 'tools', { pageSize: '100' })).items).to.have.length(2);
    await platform.close();
  });

  it('ends waiting requests and idle connections at once when it is closed', async () => {
    const platform = await startDemoPlatform();
    const { projects, workflows, tools } = platform.urls;
    await fetch(`${projects}/demo/fault?kind=stall`, { method: 'PUT' });
    await fetch(`${workflows}/demo/fault?kind=slow-body`, { method: 'PUT' });
    await fetch(`${tools}/demo/latency?ms=60000`, { method: 'PUT' });
    const idle = connect(Number(new URL(tools).port), '127.0.0.1');
    await once(idle, 'connect');
    const waiting = [
      openRequest(`${projects}/v1/projects`).ended,
      openRequest(`${workflows}/v1/workflows`).ended,
      openRequest(`${tools}/v1/tools`).ended,
      once(idle, 'close'),
    ];
    await aWhile(50);
    const begun = performance.now();
    await platform.close();
    await Promise.all(waiting);
    expect(performance.now() - begun).to.be.lessThan(2000);
    expect(await openRequest(projects).ended).to.deep.equal({ text: '', error: 'ECONNREFUSED' });
  });

  it('may be closed again', async () => {
    const platform = await startDemoPlatform();
    await Promise.all([platform.close(), platform.close()]);
    await platform.close();
  });
});
