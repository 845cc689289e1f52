import { expect } from 'chai';
import { closeAll, LIST, serve } from '../served.ts';
import { ask, get } from '../wire.ts';

describe('the origin of a request', () => {
  afterEach(closeAll);

  it('is refused where none is allowed, its own included', async () => {
    const { url } = await serve();
    for (const origin of ['https://evil.example', 'null', '', url]) {
      const { status, json } = await ask(url, get(LIST, { Origin: origin }));
      expect([status, json['code']], origin).to.deep.equal([403, 'origin_refused']);
    }
  });

  it('is taken where it is allowed, scheme and port included', async () => {
    const { url } = await serve({ allowedOrigins: ['https://App.example/', 'http://other.example:81'] });
    for (const origin of ['https://app.example', 'http://other.example:81']) {
      expect((await ask(url, get(LIST, { Origin: origin }))).status).to.equal(200);
    }
    for (const origin of [
      'http://app.example',
      'https://app.example:8443',
      'https://x.app.example',
      'https://app.example, https://app.example',
    ]) {
      expect((await ask(url, get(LIST, { Origin: origin }))).status).to.equal(403);
    }
  });

  it('never opens an answer to another origin', async () => {
    const { url } = await serve({ allowedOrigins: ['https://app.example'] });
    for (const origin of ['https://app.example', 'https://evil.example']) {
      const { headers } = await ask(url, get(LIST, { Origin: origin }));
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).to.deep.equal([]);
    }
  });
});
