import { expect } from 'chai';
import nock from 'nock';
import { mockPlatform } from '../../src/testing/mock-platform.ts';
import { PLATFORM_URL, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts';
import { useNock } from '../support/nock.ts';
import { read } from './read.ts';

const TOKEN = 'token-of-the-test';

const project = (id: string) => ({ id, name: id.toUpperCase(), description: '', createTime: '' });

describe('mockPlatform', () => {
  useNock();
  let gateway: TestGateway;

  beforeEach(async () => {
    gateway = await startGateway();
  });

  afterEach(async () => {
    await gateway.close();
    const pending = nock.pendingMocks();
    nock.cleanAll();
    expect(pending).to.deep.equal([]);
  });

  it('answers one read of a list, over its pages and in order', async () => {
    const platform = mockPlatform(nock);
    platform.list('projects', [project('a'), project('b')], [project('c')], [project('d')]);
    const { body } = await read(gateway, 'projects', TOKEN);
    expect(body).to.deep.equal(['a', 'b', 'c', 'd'].map(project));
    // Once and no more: nock answers 501 to what it was not told of.
    expect(await read(gateway, 'projects', TOKEN)).to.have.nested.property('body.code', 'upstream_failed');
  });

  for (const name of ['workflows', 'tools'] as const) {
    it(`answers a read of ${name}, those that are installed, also without any`, async () => {
      mockPlatform(nock).list(name);
      expect(await read(gateway, name, TOKEN)).to.deep.equal({ status: 200, body: [] });
    });
  }

  it('answers with the given status and body', async () => {
    const platform = mockPlatform(nock);
    platform.reply('projects', 401);
    expect(await read(gateway, 'projects', 'another')).to.have.nested.property('body.code', 'credential_rejected');
    platform.reply('tools', 200, { error: 'not a list' });
    expect(await read(gateway, 'tools', TOKEN)).to.have.nested.property('body.code', 'upstream_invalid');
  });

  it('answers only its own token', async () => {
    const platform = mockPlatform(nock, { token: TOKEN });
    platform.list('projects', [project('a')]);
    expect(await read(gateway, 'projects', 'another')).to.have.property('status', 502);
    expect(await read(gateway, 'projects', TOKEN)).to.have.property('status', 200);
  });

  it('answers no query but that of the default contract', async () => {
    mockPlatform(nock).list('projects', [project('a')]);
    const ask = async (query: string) =>
      (await fetch(`${PLATFORM_URL}/v1/projects${query}`, { headers: { authorization: 'Bearer x' } })).status;
    for (const query of [
      '',
      '?pageSize=0',
      '?pageSize=5&pageToken=x',
      '?pageSize=5&installed=true',
      '?pageSize=5&x=',
    ]) {
      expect(await ask(query), query).to.equal(501);
    }
    expect(await ask('?pageSize=5')).to.equal(200);
  });

  it('is at another origin, below a path, if that is given', async () => {
    const platform = mockPlatform(nock, { url: 'https://acme.example/api/' });
    const elsewhere = await startGateway({ upstreams: platform.upstreams });
    platform.list('projects', [project('a')]);
    expect(await read(elsewhere, 'projects', TOKEN)).to.deep.equal({ status: 200, body: [project('a')] });
    await elsewhere.close();
  });
});
