import { expect } from 'chai';
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts';
import { type DemoPlatform, startDemoPlatform } from '../../src/testing/testing.ts';
import { get } from '../demo/lists.ts';
import { read } from './read.ts';

describe('startDemoPlatform of portico/testing', () => {
  let platform: DemoPlatform;
  let gateway: TestGateway;

  beforeEach(async () => {
    platform = await startDemoPlatform();
    gateway = await startGateway({ upstreams: platform.upstreams });
  });

  afterEach(async () => {
    await gateway.close();
    await platform.close();
  });

  it('is what its settings lead to, and shows each of its two callers other projects', async () => {
    const [alice, bob] = [await read(gateway, 'projects', 'demo-alice'), await read(gateway, 'projects', 'demo-bob')];
    expect(alice.body).to.be.an('array').and.not.deep.equal(bob.body);
    expect(await read(gateway, 'workflows', 'demo-bob')).to.have.property('status', 200);
    expect(await read(gateway, 'tools', 'stranger')).to.have.nested.property('body.code', 'credential_rejected');
  });

  it('fails from the next request on, one API alone, until it is put back', async () => {
    platform.behaviour.projects.fault = 'garbage';
    expect(await read(gateway, 'projects', 'demo-alice')).to.have.nested.property('body.code', 'upstream_invalid');
    expect(await read(gateway, 'tools', 'demo-alice')).to.have.property('status', 200);
    platform.behaviour.projects.fault = null;
    expect(await read(gateway, 'projects', 'demo-alice')).to.have.property('status', 200);
  });

  it('has one behaviour, for every way to change it', async () => {
    await fetch(`${platform.urls.tools}/demo?fault=stall`, { method: 'PUT' });
    expect(platform.behaviour.tools).to.deep.equal({ fault: 'stall', latencyMs: 0 });
    platform.behaviour.tools.fault = 'loop';
    const state = await (await get(`${platform.urls.tools}/demo`)).json();
    expect(state).to.have.property('fault', 'loop');
  });
});
