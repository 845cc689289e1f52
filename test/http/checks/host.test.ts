import { expect } from 'chai';
import { closeAll, LIST, serve } from '../served.ts';
import { ask, get, openWire } from '../wire.ts';

async function statusOf(url: string, request: string): Promise<number> {
  return (await ask(url, request)).status;
}

describe('the host of a request', () => {
  afterEach(closeAll);

  it('is a loopback name, with the right port or none, on a loopback address', async () => {
    const { url } = await serve();
    const { port } = new URL(url);
    for (const host of ['localhost', 'LOCALHOST', '127.0.0.1', '[::1]', `localhost:${port}`, `127.0.0.1:${port}`]) {
      expect(await statusOf(url, get(LIST, { Host: host })), host).to.equal(200);
    }
    for (const host of [
      'evil.example',
      `evil.example:${port}`,
      'localhost:1',
      'localhost.',
      'a.localhost',
      '127.0.0.2',
      '',
    ]) {
      const { status, json } = await ask(url, get(LIST, { Host: host }));
      expect([status, json['code']], host).to.deep.equal([421, 'host_refused']);
    }
  });

  it('is any on all addresses', async () => {
    const { url } = await serve({ host: '0.0.0.0' });
    expect(url).to.match(/^http:\/\/0\.0\.0\.0:\d+$/);
    expect(await statusOf(url, get(LIST, { Host: 'portico.example' }))).to.equal(200);
  });

  it('is one of the setting, where there is one', async () => {
    const { url } = await serve({ allowedHosts: ['Portico.example', 'portico.example:8443'] });
    for (const host of ['portico.example', 'PORTICO.EXAMPLE', 'portico.example:8443']) {
      expect(await statusOf(url, get(LIST, { Host: host })), host).to.equal(200);
    }
    for (const host of ['localhost', 'portico.example:1', 'xportico.example']) {
      expect(await statusOf(url, get(LIST, { Host: host })), host).to.equal(421);
    }
  });

  it('must be told, once, in HTTP/1.1', async () => {
    const { url } = await serve({ host: '0.0.0.0' });
    for (const request of [
      get(LIST, { Host: undefined }),
      get(LIST, { host: 'localhost' }),
      get(LIST, { HOST: 'localhost', Host: 'localhost' }).replace(
        'Host: localhost',
        'Host: localhost\r\nHost: localhost',
      ),
    ]) {
      const { status, headers, json } = await ask(url, request);
      expect([status, json['code']]).to.deep.equal([400, 'invalid_request']);
      expect(headers.get('content-type')).to.equal('application/problem+json');
    }
  });

  it('must be well-formed', async () => {
    const { url } = await serve({ host: '0.0.0.0' });
    for (const host of ['a b', 'user@localhost', 'localhost/', '[::1']) {
      expect(await statusOf(url, get(LIST, { Host: host })), host).to.equal(400);
    }
  });

  it('need not be told in HTTP/1.0', async () => {
    const { url } = await serve();
    const wire = openWire(url);
    wire.write(get(LIST, { Host: undefined }).replace('HTTP/1.1', 'HTTP/1.0'));
    expect((await wire.closed()).map(({ status }) => status)).to.deep.equal([200]);
    expect(await statusOf(url, get(LIST, { Host: 'evil.example' }).replace('HTTP/1.1', 'HTTP/1.0'))).to.equal(421);
  });
});
