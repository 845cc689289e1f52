import { expect } from 'chai';
import { sharedSettings } from '../../../src/capabilities/shared-cache/shared-settings.ts';

describe('the settings of the shared cache', () => {
  const keySecretFile = '/run/secrets/fleet';
  const shared = (more: object) => {
    const { error } = sharedSettings.safeParse({ url: 'redis://redis.example', keySecretFile, ...more });
    return (error?.issues ?? []).map(({ path, message }) => `${['shared', ...path].join('.')}: ${message}`);
  };

  it('accept the URL of a host or a socket', () => {
    for (const url of [
      'redis://a',
      'redis://a:6380/2',
      'rediss://redis.example:6379/',
      'redis://[::1]:1',
      'unix:///run/r',
    ]) {
      expect(shared({ url }), url).to.deep.equal([]);
    }
    const wrong = ['', 'a', 'redis:', 'redis://', 'http://a', 'unix://run', 'unix:/run/r', 'unix:///'];
    for (const url of [
      ...wrong,
      'redis://a/b',
      'redis://a?x=1',
      'redis://a#x',
      'redis://a/1/2',
      'unix:///run/r?db=1',
    ]) {
      expect(shared({ url }), url).to.have.length(1);
    }
  });

  it('refuse a URL with a user or a password, name the settings for those, and print nothing of it', () => {
    for (const url of ['redis://user:hidden@a', 'redis://:hidden@a:1', 'rediss://hidden@a', 'unix://u:hidden@/run/r']) {
      expect(shared({ url }), url).to.deep.equal([
        'shared.url: must be redis://host:port, rediss://host:port or unix:///path/of/socket; a user and a password belong in username and passwordFile',
      ]);
    }
  });

  it('refuse settings that lack another one', () => {
    expect(shared({ url: 'rediss://a', tls: { caFile: '/ca', certFile: '/a', keyFile: '/b' } })).to.deep.equal([]);
    expect(shared({ tls: {} })).to.deep.equal(['shared.tls: needs a url that begins with rediss']);
    expect(shared({ url: 'rediss://a', tls: { keyFile: '/a' } })).to.deep.equal([
      'shared.tls.keyFile: needs both certFile and keyFile',
    ]);
    expect(shared({ username: 'portico', passwordFile: '/p' })).to.deep.equal([]);
    expect(shared({ username: 'portico' })).to.deep.equal(['shared.username: needs passwordFile']);
    expect(shared({ cluster: true })).to.deep.equal([]);
    for (const url of ['unix:///run/r', 'redis://a/1']) {
      expect(shared({ cluster: true, url }), url).to.deep.equal([
        'shared.cluster: needs a url with a host: a cluster has neither sockets nor database numbers',
      ]);
    }
    for (const prefix of ['', 'a b', '{a}', 'x'.repeat(65)]) expect(shared({ prefix }), prefix).to.have.length(1);
  });
});
