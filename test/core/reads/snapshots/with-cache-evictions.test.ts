import { expect } from 'chai';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { errorOf, settle, text } from './departures.ts';
import { alice, bob, house, MINUTE, readLanding, readRejecting } from './house.ts';

describe('a denial of an upstream', () => {
  it('of the credential of the deployment evicts nothing', async () => {
    const { tools, workflows, projects, cache, told } = house();
    await readLanding(tools, 'a');
    await readLanding(workflows, 'a');
    await readLanding(tools, 'b', bob);
    await errorOf(readRejecting(projects, new GatewayError('upstream_credential_rejected', { upstreamStatus: 401 })));
    expect(cache.entries).to.equal(3);
    expect(text(await tools.read(alice))).to.contain('a');
    expect(text(await tools.read(bob))).to.contain('b');
    expect(told.filter(([name]) => name === 'evicted')).to.deep.equal([]);
  });

  it('with a 401 evicts all resources of that upstream, for that caller only', async () => {
    const { tools, workflows, projects, cache, told } = house();
    await readLanding(tools, 'a');
    await readLanding(workflows, 'a');
    await readLanding(tools, 'b', bob);
    await errorOf(readRejecting(projects, new GatewayError('credential_rejected')));
    expect(cache.entries).to.equal(1);
    expect(text(await tools.read(bob))).to.contain('b');
    expect(told.filter(([name]) => name === 'evicted')).to.deep.equal(
      ['projects', 'workflows', 'tools'].map((resource) => [
        'evicted',
        { requestId: alice.requestId, resource, code: 'credential_rejected' },
      ]),
    );
  });

  it('with a 403 evicts that resource only', async () => {
    const { tools, workflows, cache, clock } = house();
    await readLanding(tools, 'a');
    await readLanding(workflows, 'a');
    clock.now += 10 * MINUTE;
    await errorOf(readRejecting(tools, new GatewayError('access_denied')));
    expect(cache.entries).to.equal(1);
  });

  it('prevents earlier loads from storing', async () => {
    const { tools, projects, cache } = house();
    const slow = tools.read(alice);
    await errorOf(readRejecting(projects, new GatewayError('credential_rejected')));
    tools.departures[0]?.land([{ id: 'slow' }]);
    expect((await slow).cached).to.include({ forwarded: 'miss', stored: false });
    expect(cache).to.include({ entries: 0, loading: 0 });
    expect((await readLanding(tools, 'new')).cached).to.include({ stored: true });
  });

  it('evicts during a background refresh, too', async () => {
    const { tools, clock, cache } = house();
    await readLanding(tools, 'old');
    clock.now += 2 * MINUTE;
    await tools.read(alice);
    tools.departures[1]?.reject(new GatewayError('access_denied'));
    await settle();
    expect(cache.entries).to.equal(0);
  });
});
