import { expect } from 'chai';
import { startAuthorizationServer } from '../../support/authorization/authorization-server.ts';
import { lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { LOADED, READ, startTraced, TOOLS } from './traced.ts';

const AUDIENCE = 'https://portico.example/mcp';

describe('the verification of a token', () => {
  it('is traced below the request that brought it, and not where it is remembered', async () => {
    const server = await startAuthorizationServer();
    const platform = await startHttpUpstream(lists(TOOLS));
    const verification = { issuer: server.issuer, audience: AUDIENCE };
    const traced = await startTraced(platform.url, { verification });
    const good = await server.issue({ resource: AUDIENCE, subject: 'ada' });
    const other = await server.issue({ resource: 'https://other.example', subject: 'ada' });
    const statuses: number[] = [];
    for (const token of [good, good, other]) {
      const headers = { authorization: `Bearer ${token}` };
      statuses.push((await traced.read('tools', { headers })).status);
    }
    await traced.end();
    expect(statuses).to.deep.equal([200, 200, 401]);
    expect(traced.collector.tree()).to.deep.equal({
      [`1 SERVER ${READ}`]: { '1 INTERNAL verify': {}, '2 INTERNAL read tools': LOADED },
      [`2 SERVER ${READ}`]: { '1 INTERNAL read tools': {} },
      [`3 SERVER ${READ}`]: { '1 INTERNAL verify': {} },
    });
    const errors = traced.collector.all('verify').map(({ attributes }) => attributes['error.type']);
    expect(errors).to.deep.equal([undefined, 'credential_rejected']);
    for (const token of [good, other]) expect(traced.collector.bodies.join()).not.to.contain(token);
  });
});
