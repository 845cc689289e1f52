import { expect } from 'chai';
import { createOrigins } from '../../../src/core/config/origins.ts';

/** A file that takes what is at these paths from the environment. */
const taking =
  (...paths: readonly string[]) =>
  (path: readonly string[]) =>
    paths.includes(path.join('.'));

describe('where the settings in force are from', () => {
  it('is that of the file, and after a change that of the next one', () => {
    const origins = createOrigins(taking('scheme'));
    expect(origins.isFromEnvironment(['scheme'])).to.equal(true);
    origins.change(taking('publicUrl'), []);
    expect(origins.isFromEnvironment(['scheme'])).to.equal(false);
    expect(origins.isFromEnvironment(['publicUrl'])).to.equal(true);
  });

  it('is that of the first file for keys that need a restart, however often the file changes', () => {
    const origins = createOrigins(taking('http.host', 'http.port', 'scheme'));
    for (let time = 0; time < 3; time += 1) {
      origins.change(taking('admin.host'), ['admin.host', 'http.host']);
      expect(origins.isFromEnvironment(['http', 'host'])).to.equal(true);
      expect(origins.isFromEnvironment(['http', 'port'])).to.equal(false);
      expect(origins.isFromEnvironment(['admin', 'host'])).to.equal(false);
    }
    origins.change(taking(), []);
    expect(origins.isFromEnvironment(['http', 'host'])).to.equal(false);
  });

  it('is kept for what is in a block, also once the whole block needs a restart', () => {
    const origins = createOrigins(taking('http.tls.certFile'));
    origins.change(taking('http.tls.keyFile', 'http.tlsOther'), ['http.tls.certFile']);
    origins.change(taking(), ['http.tls']);
    expect(origins.isFromEnvironment(['http', 'tls', 'certFile'])).to.equal(true);
    expect(origins.isFromEnvironment(['http', 'tls', 'keyFile'])).to.equal(true);
    expect(origins.isFromEnvironment(['http', 'tlsOther'])).to.equal(false);
  });
});
