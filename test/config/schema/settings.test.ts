import { expect } from 'chai';
import { ConfigError } from '../../../src/config/config-error.ts';
import { parseConfig } from '../../../src/config/load.ts';
import type { Config, SettingsInput } from '../../../src/config/schema/settings.ts';

type Upstream = SettingsInput['upstreams'][string];
type Resource = NonNullable<NonNullable<SettingsInput['resources']>['tools']>;

const BASE = { baseUrl: 'https://api.example' };

/** Settings with one upstream, `api`, for all resources. */
function settings({
  api = {},
  tools = {},
  ...rest
}: { api?: object; tools?: object } & Partial<SettingsInput>): SettingsInput {
  return {
    upstreams: { api: { ...BASE, ...api } },
    resources: { projects: { upstream: 'api' }, workflows: { upstream: 'api' }, tools: { upstream: 'api', ...tools } },
    ...rest,
  };
}

function parsed(input: Parameters<typeof settings>[0]): Config {
  return parseConfig(settings(input));
}

/** What is wrong with such settings, as `path: message`. */
function mistakes(input: Parameters<typeof settings>[0]): string[] {
  try {
    parsed(input);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message.split('\n');
  }
}

describe('the settings of a listener', () => {
  it('bind to addresses and host names', () => {
    for (const host of ['127.0.0.1', '0.0.0.0', '::', '::1', 'fe80::1', 'localhost', 'portico.internal']) {
      expect(mistakes({ http: { host } })).to.deep.equal([]);
    }
    for (const host of ['', '0.0.0.0:80', '[::1]', 'http://a', 'a b', '-a']) {
      expect(mistakes({ http: { host } })).to.deep.equal([
        'http.host: must be an IP address or a host name, without port',
      ]);
    }
  });

  it('have a path for a unix socket that every system takes', () => {
    expect(mistakes({ http: { socketPath: `/${'x'.repeat(102)}` } })).to.deep.equal([]);
    expect(mistakes({ http: { socketPath: `/${'é'.repeat(52)}` } })).to.deep.equal([
      'http.socketPath: must be at most 103 bytes long',
    ]);
    expect(mistakes({ http: { socketPath: '' } })).to.deep.equal(['http.socketPath: must not be empty']);
  });

  it('answer for hosts with or without port', () => {
    const allowedHosts = ['a', 'portico.example.com', 'a_b:8080', '127.0.0.1:1', '[::1]', '[::1]:65535'];
    expect(mistakes({ http: { allowedHosts } })).to.deep.equal([]);
    for (const host of ['', 'a:', 'a:b', 'a/b', 'http://a', '*.a', '::1', 'a,b', 'a:123456', 'u@a']) {
      expect(mistakes({ http: { allowedHosts: [host] } }), host).to.have.length(1);
    }
  });

  it('answer to origins as browsers send them', () => {
    const allowedOrigins = ['https://app.example.com', 'http://localhost:3000', 'http://[::1]:1'];
    expect(mistakes({ http: { allowedOrigins } })).to.deep.equal([]);
    for (const origin of ['https://a/', 'https://a/b', 'https://a:443', 'https://A', 'a', '*', 'null', 'https://u@a']) {
      expect(mistakes({ http: { allowedOrigins: [origin] } }), origin).to.have.length(1);
    }
  });

  it('give a whole request no less time than its headers', () => {
    expect(mistakes({ http: { headersTimeoutMs: 5, requestTimeoutMs: 5 } })).to.deep.equal([]);
    expect(mistakes({ http: { headersTimeoutMs: 20_000 } })).to.deep.equal([
      'http.requestTimeoutMs: must be no less than headersTimeoutMs',
    ]);
  });

  it('give the admin listener a port of its own', () => {
    const same = ['admin.port: must not be http.port: the admin listener has a port of its own'];
    expect(mistakes({ http: { port: 9090 } })).to.deep.equal(same);
    expect(mistakes({ http: { port: 9090, host: '0.0.0.0' } })).to.deep.equal([]);
    expect(mistakes({ http: { port: 9090, socketPath: '/a' } })).to.deep.equal([]);
    expect(mistakes({ http: { port: 9090 }, admin: { enabled: false } })).to.deep.equal([]);
    expect(mistakes({ http: { port: 0 }, admin: { port: 0 } })).to.deep.equal([]);
  });
});

describe('the settings of an upstream', () => {
  it('have a name that is safe in logs and as a key', () => {
    for (const name of ['a', 'A1', 'my-api', 'my_api']) {
      expect(mistakes({ upstreams: { api: BASE, [name]: BASE } })).to.deep.equal([]);
    }
    for (const name of ['', '1a', 'a b', 'a.b', '-a', '_a', 'é', 'constructor', 'toString', 'hasOwnProperty']) {
      expect(mistakes({ upstreams: { api: BASE, [name]: BASE } }), name).to.have.length(1);
    }
    expect(mistakes({ upstreams: { api: BASE, constructor: BASE } })).to.deep.equal([
      'upstreams.constructor: is a name that JavaScript keeps for itself',
    ]);
  });

  it('have a URL that says where the API lives and nothing else', () => {
    for (const baseUrl of ['http://a', 'https://a.example:8443/v1', 'https://[::1]', 'https://a/b%20c']) {
      expect(mistakes({ api: { baseUrl } })).to.deep.equal([]);
    }
    for (const baseUrl of ['a.example', 'ftp://a', 'file:///a', '', 'https://', '//a']) {
      expect(mistakes({ api: { baseUrl } }), baseUrl).to.deep.equal([
        'upstreams.api.baseUrl: must be an http or https URL',
      ]);
    }
    for (const baseUrl of ['https://u@a', 'https://u:p@a', 'https://a?b', 'https://a#b', 'https://a/?key=1']) {
      expect(mistakes({ api: { baseUrl } }), baseUrl).to.deep.equal([
        'upstreams.api.baseUrl: must hold no user, password, query or fragment',
      ]);
    }
  });

  it('have a URL without slash at its end, since paths begin with one', () => {
    expect(parsed({ api: { baseUrl: 'https://a.example/' } }).upstreams['api']?.baseUrl).to.equal('https://a.example');
    expect(parsed({ api: { baseUrl: 'https://a.example/v1/' } }).upstreams['api']?.baseUrl).to.equal(
      'https://a.example/v1',
    );
  });

  it('send no header that HTTP or Portico decides on', () => {
    const refused = [
      'Host',
      'connection',
      'Content-Length',
      'Transfer-Encoding',
      'TE',
      'Upgrade',
      'Expect',
      'Proxy-Authorization',
      'proxy-x',
      'Keep-Alive',
      'Trailer',
      'Accept-Encoding',
      'If-None-Match',
      'Range',
      'traceparent',
      'X-Request-Id',
    ];
    for (const name of refused) {
      expect(mistakes({ api: { headers: { [name]: 'a' } } }), name).to.deep.equal([
        `upstreams.api.headers.${name}: is a header that HTTP or Portico itself decides on`,
      ]);
      expect(mistakes({ api: { credential: { kind: 'header', name } } }), name).to.have.length(1);
    }
    expect(mistakes({ api: { headers: { Accept: 'a', 'User-Agent': 'b', Cookie: 'c', 'X-T': 'd' } } })).to.deep.equal(
      [],
    );
  });

  it('send no header twice, nor that of the credential', () => {
    const taken = (name: string) => [`upstreams.api.headers.${name}: is the header of the credential`];
    const headers = { AUTHORIZATION: 'a' };
    const own: Upstream['credential'] = { kind: 'header', name: 'X-Key' };
    expect(mistakes({ api: { headers } })).to.deep.equal(taken('AUTHORIZATION'));
    expect(mistakes({ api: { headers, credential: own } })).to.deep.equal([]);
    expect(mistakes({ api: { headers: { 'x-key': 'a' }, credential: own } })).to.deep.equal(taken('x-key'));
    expect(mistakes({ api: { headers, credential: { kind: 'none' } }, allowUnverifiedCallers: true })).to.deep.equal(
      [],
    );
    expect(mistakes({ api: { headers: { 'X-A': 'a', 'x-a': 'b' } } })).to.deep.equal([
      'upstreams.api.headers.x-a: stands there twice: case makes no difference',
    ]);
    expect(mistakes({ api: { headers: 5, credential: { kind: 'header', name: 7 } } })).to.have.length(2);
  });

  it('send text that a header can hold', () => {
    expect(mistakes({ api: { headers: { 'X-A': 'a\r\nX-B: c' } } })).to.deep.equal([
      'upstreams.api.headers.X-A: must be printable ASCII',
    ]);
    expect(mistakes({ api: { headers: { 'a b': 'c' } } })).to.deep.equal([
      'upstreams.api.headers["a b"]: must be an HTTP header name',
    ]);
    expect(parsed({ api: { headers: { 'X-A': 5, 'X-B': false } } }).upstreams['api']?.headers).to.deep.equal({
      'X-A': '5',
      'X-B': 'false',
    });
  });

  it('have a format for the credential with the token in it once', () => {
    const format = (text: string) => mistakes({ api: { credential: { kind: 'header', name: 'X-T', format: text } } });
    expect(format('Token {token}')).to.deep.equal([]);
    for (const text of ['', 'Token', '{token}{token}']) {
      expect(format(text)).to.deep.equal(['upstreams.api.credential.format: must hold {token} exactly once']);
    }
    expect(format('{token}\n')).to.deep.equal(['upstreams.api.credential.format: must be printable ASCII']);
  });

  it('go without a credential only where unverified callers are allowed', () => {
    expect(mistakes({ api: { credential: { kind: 'none' } } })).to.deep.equal([
      'upstreams.api.credential.kind: none lets any caller in, verified by nobody: set allowUnverifiedCallers: true if that is meant',
    ]);
    expect(mistakes({ api: { credential: { kind: 'none' } }, allowUnverifiedCallers: true })).to.deep.equal([]);
  });
});

describe('the settings of a resource', () => {
  it('name an upstream that is there', () => {
    expect(mistakes({ tools: { upstream: 'ap' } })).to.deep.equal([
      'resources.tools.upstream: must be a key of upstreams: there is api',
    ]);
    expect(mistakes({ tools: { upstream: 'toString' } })).to.have.length(1);
    expect(mistakes({ upstreams: { api: BASE, b: BASE }, tools: { upstream: 'c' } })).to.deep.equal([
      'resources.tools.upstream: must be a key of upstreams: there are api, b',
    ]);
  });

  it('name the path of a list, and no query', () => {
    for (const path of ['/', '/a/b', '/a%20b', '/a:b(c)']) expect(mistakes({ tools: { path } })).to.deep.equal([]);
    for (const path of ['', 'a', '/a?b', '/a#b', '/a b', 'https://a/b']) {
      expect(mistakes({ tools: { path } }), path).to.deep.equal([
        'resources.tools.path: must begin with / and hold no query',
      ]);
    }
  });

  it('send no query parameter that pagination sends', () => {
    const query = { pageSize: 5, pageToken: 'a', installed: true };
    expect(mistakes({ tools: { query } })).to.deep.equal([
      'resources.tools.query.pageSize: is what pagination sends as its sizeParam',
      'resources.tools.query.pageToken: is what pagination sends as its tokenParam',
    ]);
    expect(mistakes({ tools: { query, pagination: { kind: 'none' } } })).to.deep.equal([]);
    expect(mistakes({ tools: { query: { limit: 1, per_page: 1 }, pagination: { kind: 'offset' } } })).to.deep.equal([
      'resources.tools.query.limit: is what pagination sends as its sizeParam',
    ]);
    expect(
      mistakes({ tools: { query: { per_page: 1 }, pagination: { kind: 'link', sizeParam: null } } }),
    ).to.deep.equal([]);
  });

  it('give each pagination parameter a name of its own', () => {
    const pagination: Resource['pagination'] = { kind: 'page', sizeParam: 'page' };
    expect(mistakes({ tools: { pagination } })).to.deep.equal([
      'resources.tools.pagination.pageParam: must not be the parameter that sizeParam names',
    ]);
  });

  it('say in one place where the total stands', () => {
    for (const kind of ['offset', 'page']) {
      expect(mistakes({ tools: { pagination: { kind, total: 'a' } } })).to.deep.equal([]);
      expect(mistakes({ tools: { pagination: { kind, totalHeader: 'a' } } })).to.deep.equal([]);
      expect(mistakes({ tools: { pagination: { kind, total: 'a', totalHeader: 'b' } } })).to.deep.equal([
        'resources.tools.pagination.totalHeader: says what total says too: take one of them out',
      ]);
    }
  });

  it('take an expression for a field in place of a block', () => {
    const { fields } = parsed({ tools: { fields: { id: 'a.b', name: { default: 'x' } } } }).resources.tools;
    expect(fields['id']).to.deep.equal({ from: 'a.b', default: '', values: {}, format: 'none' });
    expect(fields['name']).to.deep.equal({ from: 'name', default: 'x', values: {}, format: 'none' });
    expect(fields['version']).to.include({ format: 'version' });
    expect(parsed({ tools: { fields: { version: 'v' } } }).resources.tools.fields['version']).to.include({
      from: 'v',
      format: 'version',
    });
  });

  it('have a cache for what is stored only', () => {
    const { workflows, tools, projects } = parsed({ tools: { cache: { ttlMs: 0 } } }).resources;
    expect(workflows.cache).to.deep.equal({
      ttlMs: 60_000,
      staleWhileRevalidateMs: 300_000,
      staleIfErrorMs: 3_600_000,
      minRefreshMs: 5000,
    });
    expect(tools.cache).to.deep.equal({ ...workflows.cache, ttlMs: 0 });
    expect(projects).not.to.have.property('cache');
    expect(mistakes({ resources: { projects: { cache: { ttlMs: 0 } } } })[0]).to.contain(
      'resources.projects.cache: unknown key',
    );
  });
});
