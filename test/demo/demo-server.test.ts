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

  it('answers 404 to other methods', () =>
    withPlatform(async (urls) => {
      for (const path of ['/v1/tools', '/demo', '/demo/fault']) {
        expect(await fetch(`${urls.tools}${path}`, { method: 'POST', body: 'x' })).to.have.property('status', 404);
      }
    }));
});
