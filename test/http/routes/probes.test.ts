import { expect } from 'chai';
import { GatewayError } from '../../../src/kernel/errors.ts';
import { closeAll, READ, serve } from '../served.ts';
import { ask, get } from '../wire.ts';

const bare = { Host: undefined, Authorization: undefined };

describe('the probes', () => {
  afterEach(closeAll);

  for (const path of ['/livez', '/readyz']) {
    it(`${path} is well with every upstream down`, async () => {
      const { url } = await serve({
        read: () => {
          throw new GatewayError('upstream_failed');
        },
      });
      expect((await ask(url, get(READ))).status).to.equal(502);
      const { status, headers, json } = await ask(url, get(path));
      expect(status).to.equal(200);
      expect(headers.get('cache-control')).to.equal('no-store');
      expect(json).to.deep.equal({ status: 'ok' });
    });

    it(`${path} asks for no credential and no host of ours, and minds no origin`, async () => {
      const { url } = await serve({ allowedHosts: ['portico.example'] });
      expect((await ask(url, get(path, bare))).status).to.equal(200);
      expect((await ask(url, get(path, { Host: '10.0.0.1:8080', Origin: 'https://evil.example' }))).status).to.equal(
        200,
      );
    });

    it(`${path} answers HEAD, and refuses other methods`, async () => {
      const { url } = await serve();
      expect((await ask(url, get(path, bare, 'HEAD'))).status).to.equal(200);
      const { status, headers } = await ask(url, get(path, {}, 'POST'));
      expect(status).to.equal(405);
      expect(headers.get('allow')).to.equal('GET, HEAD');
    });
  }

  it('tell a draining process that is not ready, and lives', async () => {
    const { url, server } = await serve();
    expect(server.isDraining()).to.equal(false);
    server.markDraining();
    expect(server.isDraining()).to.equal(true);
    const { status, headers, json } = await ask(url, get('/readyz', bare));
    expect(status).to.equal(503);
    expect(json['code']).to.equal('draining');
    expect(headers.get('retry-after')).to.equal('1');
    expect((await ask(url, get('/livez', bare))).status).to.equal(200);
    expect((await ask(url, get(READ))).status).to.equal(200);
  });

  it('are logged for those who debug only', async () => {
    const { url, access } = await serve();
    await ask(url, get('/livez', bare));
    await ask(url, get('/readyz', bare));
    await ask(url, get(READ));
    expect((await access(3)).map(({ route, level }) => [route, level])).to.deep.equal([
      ['/livez', 'debug'],
      ['/readyz', 'debug'],
      ['/mcp/v1/resources/read', 'info'],
    ]);
  });
});
