import { expect } from 'chai';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { exchange, get, requestText } from '../../../support/raw-http.ts';
import { LIST, READ, serve } from '../served.ts';

const bare = { Host: undefined, Authorization: undefined };

describe('the probes', () => {
  for (const path of ['/livez', '/readyz']) {
    it(`${path} is well with every upstream down`, async () => {
      const { url, ended } = await serve({
        read: () => {
          throw new GatewayError('upstream_failed');
        },
      });
      expect((await exchange(url, get(READ))).status).to.equal(502);
      const response = await exchange(url, get(path));
      expect(response.status).to.equal(200);
      expect(response.headers.get('cache-control')).to.equal('no-store');
      expect(response.json()).to.deep.equal({ status: 'ok' });
      expect((await ended(2))[1])
        .to.include({ route: path, outcome: 'ok' })
        .and.not.have.property('callerKey');
    });

    it(`${path} needs no credential, and allows any host and origin`, async () => {
      const { url } = await serve({ allowedHosts: ['portico.example'] });
      const foreign = { Host: '10.0.0.1:8080', Origin: 'https://evil.example' };
      for (const fields of [bare, foreign, { Host: 'a b' }]) {
        expect((await exchange(url, get(path, fields))).status).to.equal(200);
        expect((await exchange(url, get(`${path}?x`, fields))).status).to.equal(200);
      }
    });

    it(`${path} answers HEAD, and refuses other methods`, async () => {
      const { url } = await serve();
      expect((await exchange(url, requestText('HEAD', path, bare))).status).to.equal(200);
      const { status, headers } = await exchange(url, requestText('POST', path, bare));
      expect(status).to.equal(405);
      expect(headers.get('allow')).to.equal('GET, HEAD');
    });
  }

  it('report that a draining process is alive, but not ready', async () => {
    const { url } = await serve({ isDraining: () => true });
    const response = await exchange(url, get('/readyz', bare));
    expect(response.json()).to.include({ status: 503, code: 'draining' });
    expect(response.headers.get('retry-after')).to.equal('1');
    expect((await exchange(url, get('/livez', bare))).status).to.equal(200);
    expect((await exchange(url, get(LIST))).status).to.equal(200);
  });
});
