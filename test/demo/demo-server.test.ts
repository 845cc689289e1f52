import { expect } from 'chai';
import { openConnection } from '../support/raw-http.ts';
import { get, withPlatform } from './lists.ts';

describe('a demo server', () => {
  it('listens on the loopback interface only', () =>
    withPlatform(async (urls) => {
      const hosts = Object.values(urls).map((url) => new URL(url).hostname);
      expect(hosts).to.deep.equal(['127.0.0.1', '127.0.0.1', '127.0.0.1']);
    }));

  it('answers 404 on any other path, to other methods, and to a target that is no URL', () =>
    withPlatform(async ({ tools }) => {
      for (const path of ['/', '/v1', '/v1/tools/', '/v1/tools/nuclei', '/v1/projects', '/demo/', '/constructor']) {
        expect(await get(`${tools}${path}`), path).to.have.property('status', 404);
      }
      for (const path of ['/v1/tools', '/demo', '/demo/fault']) {
        expect(await fetch(`${tools}${path}`, { method: 'POST', body: 'x' })).to.have.property('status', 404);
      }
      const connection = openConnection(tools);
      connection.send('GET // HTTP/1.1\r\nHost: demo\r\n\r\n');
      expect(await connection.receive()).to.include({ status: 404 });
    }));
});
