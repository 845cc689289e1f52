import { expect } from 'chai';
import { serve } from '../../core/http/served.ts';
import { THE_READS } from '../../support/platform/openapi.ts';
import { exchange, get } from '../../support/raw-http.ts';

const PATH = '/openapi.json';
const anonymous = { Authorization: undefined };

// `exchange`, and the reads of `startGateway`, hold each answer of any test to the description.
describe('the description of the reads, over HTTP', () => {
  it('needs no token', async () => {
    const { url, ended } = await serve();
    const response = await exchange(url, get(PATH, anonymous));
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-type')).to.equal('application/json');
    expect(response.headers.get('cache-control')).to.equal('no-cache');
    expect(response.json()).to.deep.equal(THE_READS.document);
    expect((await ended(1))[0])
      .to.include({ route: PATH, outcome: 'ok' })
      .and.not.have.property('callerKey');
  });

  it('names the server: the public address, or the one that was requested', async () => {
    const { url } = await serve({ publicUrl: 'https://apps.example/portico' });
    expect((await exchange(url, get(PATH, anonymous))).json()).to.deep.equal({
      ...THE_READS.document,
      servers: [{ url: 'https://apps.example/portico' }],
    });
    expect(THE_READS.document).to.deep.include({ servers: [{ url: '/' }] });
  });
});
