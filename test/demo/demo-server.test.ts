import { expect } from 'chai';
import { get, withPlatform } from './lists.ts';
import { openRequest } from './wire.ts';

describe('a demo server', () => {
  it('listens on the loopback interface only', () =>
    withPlatform(async (urls) => {
      const hosts = Object.values(urls).map((url) => new URL(url).hostname);
      expect(hosts).to.deep.equal(['127.0.0.1', '127.0.0.1', '127.0.0.1']);
    }));

  it('answers 404 on any other path, that of another API included', () =>
    withPlatform(async (urls) => {
      for (const path of ['/', '/v1', '/v1/tools/', '/v1/tools/nuclei', '/v1/projects', '/demo/', '/constructor']) {
        expect(await get(`${urls.tools}${path}`), path).to.have.property('status', 404);
      }
    }));

  it('answers 404 to a target that is no URL', () =>
    withPlatform(async (urls) => {
      const { socket, ended } = openRequest(urls.tools);
      socket.end('GET // HTTP/1.1\r\nHost: demo\r\nConnection: close\r\n\r\n');
      const { text } = await ended;
      expect(text.match(/^HTTP\/1\.1 404 /gm)).to.have.length(2);
    }));

  it('answers 405 to other methods, with Allow', () =>
    withPlatform(async (urls) => {
      const allowed = { '/v1/tools': 'GET, HEAD', '/demo': 'GET, HEAD, DELETE', '/demo/fault': 'PUT, DELETE' };
      for (const [path, allow] of Object.entries(allowed)) {
        const response = await fetch(`${urls.tools}${path}`, { method: 'POST', body: 'x' });
        expect(response.status).to.equal(405);
        expect(response.headers.get('allow')).to.equal(allow);
      }
    }));

  it('answers HEAD as GET without a body', () =>
    withPlatform(async (urls) => {
      const headers = { Authorization: 'Bearer demo-alice' };
      const whole = await fetch(`${urls.tools}/v1/tools`, { headers });
      const head = await fetch(`${urls.tools}/v1/tools`, { method: 'HEAD', headers });
      expect(head.status).to.equal(200);
      expect(head.headers.get('content-length')).to.equal(String((await whole.bytes()).length));
      expect(await head.text()).to.equal('');
    }));
});
