import { expect } from 'chai';
import { parseConfig } from '../../../src/config/load-config.ts';
import { ConfigError } from '../../../src/config/mistakes/config-error.ts';
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
function issues(input: Parameters<typeof settings>[0]): string[] {
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
      expect(issues({ http: { host } })).to.deep.equal([]);
    }
    for (const host of ['', '0.0.0.0:80', '[::1]', 'http://a', 'a b', '-a']) {
      expect(issues({ http: { host } })).to.deep.equal([
        'http.host: must be an IP address or a host name, without port and brackets',
      ]);
    }
  });

  it('have a path for a unix socket that every system takes', () => {
    expect(issues({ http: { socketPath: `/${'x'.repeat(102)}` } })).to.deep.equal([]);
    expect(issues({ http: { socketPath: `/${'é'.repeat(52)}` } })).to.deep.equal([
      'http.socketPath: must be at most 103 bytes long',
    ]);
    expect(issues({ http: { socketPath: '' } })).to.deep.equal(['http.socketPath: must not be empty']);
  });

  it('take addresses, networks and unix for trusted proxies', () => {
    const trustedProxies = ['10.0.0.7', '10.0.0.0/8', '0.0.0.0/0', '::1', 'fd00::/8', '2001:db8::/128', 'unix'];
    expect(issues({ http: { trustedProxies } })).to.deep.equal([]);
    const wrong = ['', 'proxy.internal', '10.0.0', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', '10.0.0.0/x', '::1/129'];
    for (const proxy of [...wrong, 'fe80::1%eth0', '[::1]', '10.0.0.7:80', '::ffff:10.0.0.7', '/8', 'unix/1']) {
      expect(issues({ http: { trustedProxies: [proxy] } }), proxy).to.have.length(1);
    }
  });

  it('answer for hosts with or without port', () => {
    const allowedHosts = ['a', 'portico.example.com', 'a_b:8080', '127.0.0.1:1', '[::1]', '[::1]:65535'];
    expect(issues({ http: { allowedHosts } })).to.deep.equal([]);
    for (const host of ['', 'a:', 'a:b', 'a/b', 'http://a', '*.a', '::1', 'a,b', 'a:123456', 'u@a']) {
      expect(issues({ http: { allowedHosts: [host] } }), host).to.have.length(1);
    }
  });

  it('answer to origins as browsers send them', () => {
    const allowedOrigins = ['https://app.example.com', 'http://localhost:3000', 'http://[::1]:1'];
    expect(issues({ http: { allowedOrigins } })).to.deep.equal([]);
    for (const origin of ['https://a/', 'https://a/b', 'https://a:443', 'https://A', 'a', '*', 'null', 'https://u@a']) {
      expect(issues({ http: { allowedOrigins: [origin] } }), origin).to.have.length(1);
    }
  });

  it('give a whole request no less time than its headers', () => {
    expect(issues({ http: { headersTimeoutMs: 5, requestTimeoutMs: 5 } })).to.deep.equal([]);
    expect(issues({ http: { headersTimeoutMs: 20_000 } })).to.deep.equal([
      'http.requestTimeoutMs: must be no less than headersTimeoutMs',
    ]);
  });

  it('give the admin listener a port of its own', () => {
    const same = ['admin.port: must not be http.port: the admin listener has a port of its own'];
    expect(issues({ http: { port: 9090 } })).to.deep.equal(same);
    for (const [host, admin] of [
      ['0.0.0.0', '127.0.0.1'],
      ['0.0.0.0', 'localhost'],
      ['192.0.2.1', '0.0.0.0'],
      ['::', '127.0.0.1'],
      ['::1', '::'],
      ['localhost', '127.0.0.1'],
    ] as const) {
      expect(issues({ http: { port: 9090, host }, admin: { host: admin } }), `${host} ${admin}`).to.deep.equal(same);
    }
    for (const host of ['192.0.2.1', '::1']) {
      expect(issues({ http: { port: 9090, host } }), host).to.deep.equal([]);
    }
    expect(issues({ http: { port: 9090, host: '::1' }, admin: { host: '0.0.0.0' } })).to.deep.equal([]);
    expect(issues({ http: { port: 9090, socketPath: '/a' } })).to.deep.equal([]);
    expect(issues({ http: { port: 9090 }, admin: { enabled: false } })).to.deep.equal([]);
    expect(issues({ http: { port: 0 }, admin: { port: 0 } })).to.deep.equal([]);
  });
});

describe('where clients find this server', () => {
  const issue = (publicUrl: string) => issues({ publicUrl });

  it('is a URL to the letter, by TLS or on this machine', () => {
    for (const publicUrl of [
      ...['https://portico.example', 'https://portico.example:8443', 'https://apps.example/portico', 'https://[::1]:1'],
      ...['http://localhost:8080', 'http://127.0.0.1', 'http://127.1.2.3:8081', 'http://[::1]:8080'],
    ]) {
      expect(issue(publicUrl), publicUrl).to.deep.equal([]);
      expect(parsed({ publicUrl }).publicUrl).to.equal(publicUrl);
    }
    expect(parsed({})).not.to.have.property('publicUrl');
  });

  it('has nothing that clients would send otherwise, or that means something to a shell', () => {
    for (const publicUrl of [
      ...['', 'portico.example', '//portico.example', 'ftp://portico.example', 'https://', 'https:portico.example'],
      ...['https://portico.example/', 'https://portico.example/a/', 'https://portico.example//a', 'HTTPS://a.example'],
      ...['https://Portico.example', 'https://portico.example:443', 'http://localhost:80', 'https://a.example/../b'],
      ...[
        'https://u@a.example',
        'https://u:p@a.example',
        'https://a.example?b',
        'https://a.example#b',
        'https://a.example?',
      ],
      ...['https://a.example/$(id)', "https://a.example/'", 'https://a;b', 'https://a.example:99999', 'https://127.1'],
      ...['https://é.example', 'https://a.example/%61', ' https://a.example', 'https://a.example\n', 'https://-a'],
    ]) {
      expect(issue(publicUrl).join(), JSON.stringify(publicUrl)).to.contain(
        'publicUrl: must be a URL as clients send it',
      );
    }
  });

  it('is of http on no other machine', () => {
    for (const host of ['portico.example', '10.0.0.1:8080', 'localhost.example', 'a.localhost', '128.0.0.1', '[::2]']) {
      expect(issue(`http://${host}`), host).to.deep.equal([
        'publicUrl: must be an https URL: http is for loopback alone',
      ]);
    }
  });
});

describe('the authorization servers', () => {
  const publicUrl = 'https://portico.example';
  const naming = (authorizationServers: string[]) => ({
    verification: {
      ...{ issuer: 'https://login.example', audience: 'https://portico.example/mcp' },
      authorizationServers,
    },
  });

  it('are named for a server that clients find, that verifies, and that speaks MCP', () => {
    expect(
      parsed({ publicUrl, ...naming(['https://login.example/']) }).verification?.authorizationServers,
    ).to.deep.equal(['https://login.example/']);
    expect(issues(naming(['https://login.example']))).to.deep.equal([
      'verification.authorizationServers: needs publicUrl: tokens are issued for that address',
    ]);
    expect(issues({ publicUrl, ...naming(['https://login.example']), mcp: { enabled: false } })).to.deep.equal([
      'verification.authorizationServers: needs mcp.enabled: tokens are issued for /mcp',
    ]);
    expect(issues({ ...naming([]), mcp: { enabled: false } })).to.deep.equal([]);
  });

  it('are reached by TLS, or on this machine', () => {
    expect(issues({ publicUrl, ...naming(['http://127.0.0.1:9000']) })).to.deep.equal([]);
    for (const url of ['http://login.example', 'login.example', 'https://login.example?a']) {
      expect(issues({ publicUrl, ...naming([url]) }).join(), url).to.contain(
        'verification.authorizationServers[0]: must',
      );
    }
  });
});

describe('the scopes of a resource', () => {
  it('never hold what only clients ask for', () => {
    const verification = { issuer: 'https://login.example', audience: 'https://portico.example/mcp' };
    expect(issues({ verification, tools: { requiredScopes: ['tools:read'] } })).to.deep.equal([]);
    expect(issues({ verification, tools: { requiredScopes: ['offline_access'] } })).to.deep.equal([
      'resources.tools.requiredScopes[0]: is for clients to ask for, and opens no resource (OpenID Connect Core, section 11)',
    ]);
  });
});

describe('the settings of an upstream', () => {
  it('have a name that is safe in logs and as a key', () => {
    for (const name of ['a', 'A1', 'my-api', 'my_api']) {
      expect(issues({ upstreams: { api: BASE, [name]: BASE }, tools: { upstream: name } })).to.deep.equal([]);
    }
    for (const name of ['', '1a', 'a b', 'a.b', '-a', '_a', 'é', 'constructor', 'toString', 'hasOwnProperty']) {
      const ofNames = issues({ upstreams: { api: BASE, [name]: BASE } }).filter(
        (issue) => !issue.includes('no resource'),
      );
      expect(ofNames, name).to.have.length(1);
    }
    expect(issues({ upstreams: { api: BASE, constructor: BASE } })).to.deep.equal([
      'upstreams.constructor: is a name that JavaScript keeps for itself',
      'upstreams.constructor: is the upstream of no resource',
    ]);
  });

  it('have a URL that says where the API lives and nothing else', () => {
    for (const baseUrl of ['http://a', 'https://a.example:8443/v1', 'https://[::1]', 'https://a/b%20c']) {
      expect(issues({ api: { baseUrl } })).to.deep.equal([]);
    }
    for (const baseUrl of ['a.example', 'a.example:8443/v1']) {
      expect(issues({ api: { baseUrl } }), baseUrl).to.deep.equal([
        'upstreams.api.baseUrl: must be an http or https URL; put https:// before it',
      ]);
    }
    for (const baseUrl of ['ftp://a', 'file:///a', '', 'https://', '//a']) {
      expect(issues({ api: { baseUrl } }), baseUrl).to.deep.equal([
        'upstreams.api.baseUrl: must be an http or https URL',
      ]);
    }
    for (const baseUrl of ['https://u@a', 'https://u:p@a', 'https://a?b', 'https://a#b', 'https://a/?key=1']) {
      expect(issues({ api: { baseUrl } }), baseUrl).to.deep.equal([
        'upstreams.api.baseUrl: must hold no user, password, query or fragment',
      ]);
    }
  });

  it('have a URL that is sent as it stands', () => {
    const refused: Readonly<Record<string, string>> = {
      'https://a/v1/..': 'must hold no segment . or ..: write where it leads',
      'https://a/%2e%2E/v1': 'must hold no segment . or ..: write where it leads',
      'https://a\\v1': 'must hold no space, line break or backslash',
      'https://a/b c': 'must hold no space, line break or backslash',
      'https://a/{org}/v1': 'must hold no braces: {name} stands in the path of a resource, with pathParams',
    };
    for (const [baseUrl, message] of Object.entries(refused)) {
      expect(issues({ api: { baseUrl } }), baseUrl).to.deep.equal([`upstreams.api.baseUrl: ${message}`]);
    }
    for (const baseUrl of ['https://a/..b/v1...', 'https://a/%7Borg%7D', ' https://a/v1\n']) {
      expect(issues({ api: { baseUrl } }), baseUrl).to.deep.equal([]);
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
      expect(issues({ api: { headers: { [name]: 'a' } } }), name).to.deep.equal([
        `upstreams.api.headers.${name}: is a header that HTTP or Portico itself decides on`,
      ]);
      expect(issues({ api: { credential: { kind: 'header', name } } }), name).to.have.length(1);
    }
    expect(issues({ api: { headers: { Accept: 'a', 'User-Agent': 'b', Cookie: 'c', 'X-T': 'd' } } })).to.deep.equal([]);
  });

  it('send no header twice, nor that of the credential', () => {
    const taken = (name: string) => [`upstreams.api.headers.${name}: is the header of the credential`];
    const headers = { AUTHORIZATION: 'a' };
    const own: Upstream['credential'] = { kind: 'header', name: 'X-Key' };
    expect(issues({ api: { headers } })).to.deep.equal(taken('AUTHORIZATION'));
    expect(issues({ api: { headers, credential: own } })).to.deep.equal([]);
    expect(issues({ api: { headers: { 'x-key': 'a' }, credential: own } })).to.deep.equal(taken('x-key'));
    expect(issues({ api: { headers, credential: { kind: 'none' } }, allowUnverifiedCallers: true })).to.deep.equal([]);
    expect(issues({ api: { headers: { 'X-A': 'a', 'x-a': 'b' } } })).to.deep.equal([
      'upstreams.api.headers.x-a: stands there twice: case makes no difference',
    ]);
    expect(issues({ api: { headers: 5, credential: { kind: 'header', name: 7 } } })).to.have.length(2);
  });

  it('send text that a header can hold', () => {
    expect(issues({ api: { headers: { 'X-A': 'a\r\nX-B: c' } } })).to.deep.equal([
      'upstreams.api.headers.X-A: must be printable ASCII',
    ]);
    expect(issues({ api: { headers: { 'a b': 'c' } } })).to.deep.equal([
      'upstreams.api.headers["a b"]: must be an HTTP header name',
    ]);
    expect(parsed({ api: { headers: { 'X-A': 5, 'X-B': false } } }).upstreams['api']?.headers).to.deep.equal({
      'X-A': '5',
      'X-B': 'false',
    });
  });

  it('have a format for the credential with the token in it once', () => {
    const format = (text: string) => issues({ api: { credential: { kind: 'header', name: 'X-T', format: text } } });
    expect(format('Token {token}')).to.deep.equal([]);
    for (const text of ['', 'Token', '{token}{token}']) {
      expect(format(text)).to.deep.equal(['upstreams.api.credential.format: must hold {token} exactly once']);
    }
    expect(format('{token}\n')).to.deep.equal(['upstreams.api.credential.format: must be printable ASCII']);
  });

  it('send no credential in the query, and say why', () => {
    expect(issues({ api: { credential: { kind: 'query', name: 'api_key' } } })).to.deep.equal([
      'upstreams.api.credential.kind: query is none of them: a credential must not stand in an address, which platforms and proxies on the way write into their logs: send it as a header, under credential or headers of the upstream',
    ]);
    expect(issues({ api: { credential: { kind: 'headr' } } })).to.deep.equal([
      'upstreams.api.credential.kind: must be one of passthrough, header, exchange, service, none; did you mean header?',
    ]);
  });

  it('go without a credential only where unverified callers are allowed', () => {
    expect(issues({ api: { credential: { kind: 'none' } } })).to.deep.equal([
      'upstreams.api.credential.kind: none lets any caller in, verified by nobody: set verification, or allowUnverifiedCallers: true if that is meant',
    ]);
    expect(issues({ api: { credential: { kind: 'none' } }, allowUnverifiedCallers: true })).to.deep.equal([]);
  });

  it("go with a secret of the deployment's own only where unverified callers are allowed", () => {
    const credential = { kind: 'service', file: '/run/secrets/acme' };
    expect(issues({ api: { credential } })).to.deep.equal([
      'upstreams.api.credential.kind: service shows any caller what its secret may see, verified by nobody: set verification, or allowUnverifiedCallers: true if that is meant',
    ]);
    expect(issues({ api: { credential }, allowUnverifiedCallers: true })).to.deep.equal([]);
  });

  it('have one secret for service, in a file or in settings', () => {
    const issuesOf = (credential: object) =>
      issues({ api: { credential: { kind: 'service', ...credential } }, allowUnverifiedCallers: true });
    expect(issuesOf({})).to.deep.equal(['upstreams.api.credential: needs a secret: file, or secret as "${NAME}"']);
    expect(issuesOf({ file: '/a', secret: 'b' })).to.deep.equal([
      'upstreams.api.credential.secret: stands beside file: one of them is the secret',
    ]);
    expect(issuesOf({ file: '' })).to.deep.equal(['upstreams.api.credential.file: must not be empty']);
    for (const secret of ['', ' ', 'a\n', ' a', 'a\r\nX-B: c', 'ä', '\u0000']) {
      expect(issuesOf({ secret }), JSON.stringify(secret)).to.deep.equal([
        'upstreams.api.credential.secret: must be printable ASCII, without white space around it',
      ]);
    }
    expect(issuesOf({ secret: 'a b' })).to.deep.equal([]);
  });

  const EXCHANGE = {
    kind: 'exchange',
    issuer: 'https://login.example',
    audience: 'acme',
    client: { kind: 'client_secret_basic', id: 'portico', file: '/run/secrets/portico' },
  };
  const EXCHANGES: readonly [what: string, change: object, issues: readonly string[]][] = [
    ['as they should be', {}, []],
    [
      'with the token endpoint and the address of the platform',
      { tokenUrl: 'https://login.example/t', resource: 'urn:acme' },
      [],
    ],
    [
      'without an authorization server',
      { issuer: undefined },
      ['credential: needs an authorization server: issuer, or tokenUrl'],
    ],
    [
      'for no platform',
      { audience: undefined },
      ['credential: needs the platform that tokens are for: audience, or resource'],
    ],
    [
      'over plain http',
      { issuer: 'http://login.example' },
      ['credential.issuer: must be an https URL: http is for loopback alone'],
    ],
    ['over plain http on loopback', { issuer: 'http://127.0.0.1:9' }, []],
    ['at another scheme', { issuer: 'ftp://login.example' }, ['credential.issuer: must be an https URL']],
    [
      'for an address with a fragment',
      { resource: 'https://a.example/#b' },
      ['credential.resource: must hold no fragment'],
    ],
    [
      'without a secret',
      { client: { kind: 'client_secret_post', id: 'a' } },
      ['credential.client: needs a secret: file, or secret as "${NAME}"'],
    ],
    [
      'with two secrets',
      { client: { ...EXCHANGE.client, secret: 'hush' } },
      ['credential.client.secret: stands beside file: one of them is the secret'],
    ],
    [
      'with a certificate that is not there',
      { client: { kind: 'tls_client_auth', id: 'a' }, tls: { caFile: '/ca' } },
      ['credential.client: needs a certificate: certFile and keyFile in tls beside it'],
    ],
    [
      'with a certificate',
      { client: { kind: 'tls_client_auth', id: 'a' }, tls: { certFile: '/c', keyFile: '/k' } },
      [],
    ],
    [
      'with half a certificate',
      { tls: { certFile: '/c' } },
      ['credential.tls.certFile: needs certFile and keyFile, both of them'],
    ],
    [
      'with an issuer that is the place of its metadata',
      { issuer: 'https://login.example/.well-known/openid-configuration' },
      [
        'credential.issuer: must be the issuer itself, as tokens name it in iss: leave out /.well-known/ and what follows',
      ],
    ],
    ['with a key', { client: { kind: 'private_key_jwt', id: 'a', keyFile: '/k' } }, []],
    [
      'with a scope that is two',
      { scopes: ['a b'] },
      ['credential.scopes[0]: must be one scope: printable ASCII without space, quote or backslash'],
    ],
  ];
  for (const [what, change, expected] of EXCHANGES) {
    it(`may, or may not, exchange tokens ${what}`, () => {
      const found = issues({ api: { credential: { ...EXCHANGE, ...change } } });
      expect(found).to.deep.equal(expected.map((issue) => `upstreams.api.${issue}`));
    });
  }

  it('keep the header of an exchanged token to themselves', () => {
    expect(issues({ api: { headers: { Authorization: 'a' }, credential: EXCHANGE } })).to.deep.equal([
      'upstreams.api.headers.Authorization: is the header of the credential',
    ]);
  });

  it('send the secret of service where they say, in no header twice', () => {
    const issuesOf = (credential: object, headers = {}) =>
      issues({
        api: { headers, credential: { kind: 'service', secret: 'a', ...credential } },
        allowUnverifiedCallers: true,
      });
    expect(issuesOf({ user: 'a:b' })).to.deep.equal([
      'upstreams.api.credential.user: must be printable ASCII without a colon (RFC 7617)',
    ]);
    expect(issuesOf({ format: 'Bearer' })).to.deep.equal([
      'upstreams.api.credential.format: must hold {token} exactly once',
    ]);
    expect(issuesOf({ name: 'Host' })).to.deep.equal([
      'upstreams.api.credential.name: is a header that HTTP or Portico itself decides on',
    ]);
    expect(issuesOf({}, { authorization: 'b' })).to.deep.equal([
      'upstreams.api.headers.authorization: is the header of the credential',
    ]);
    expect(issuesOf({ name: 'X-Key' }, { 'x-key': 'b' })).to.deep.equal([
      'upstreams.api.headers.x-key: is the header of the credential',
    ]);
    expect(issuesOf({ name: 'X-Key' }, { authorization: 'b' })).to.deep.equal([]);
  });
});

describe('the settings of a resource', () => {
  it('name an upstream that is there', () => {
    expect(issues({ tools: { upstream: 'ap' } })).to.deep.equal([
      'resources.tools.upstream: must be a key of upstreams: there is api',
    ]);
    expect(issues({ tools: { upstream: 'toString' } })).to.have.length(1);
    expect(issues({ upstreams: { api: BASE, b: BASE }, tools: { upstream: 'c' } })).to.deep.equal([
      'resources.tools.upstream: must be a key of upstreams: there are api, b',
    ]);
  });

  it('offer each whose upstream is there, and no other', () => {
    const offered = (upstreams: readonly string[], resources = {}) => {
      const config = parseConfig({ upstreams: Object.fromEntries(upstreams.map((name) => [name, BASE])), resources });
      return Object.entries(config.resources).flatMap(([name, { enabled }]) => (enabled ? [name] : []));
    };
    expect(offered(['projects', 'workflows', 'tools'])).to.deep.equal(['projects', 'workflows', 'tools']);
    expect(offered(['tools'])).to.deep.equal(['tools']);
    expect(offered(['api', 'tools'], { workflows: { upstream: 'api' } })).to.deep.equal(['workflows', 'tools']);
    expect(offered(['projects', 'tools'], { tools: { enabled: false } })).to.deep.equal(['projects']);
    // What is switched off may stay in the file, or go from it in part.
    expect(offered(['tools'], { projects: { enabled: false, upstream: 'gone' } })).to.deep.equal(['tools']);
  });

  it('say which upstream each has, and stay as they are when they are read once more', () => {
    const config = parseConfig({ upstreams: { tools: BASE }, resources: { tools: { path: '/a' } } });
    expect(config.resources.tools).to.include({ upstream: 'tools', enabled: true, path: '/a' });
    expect(config.resources.projects).to.include({ upstream: 'projects', enabled: false });
    expect(parseConfig(config)).to.deep.equal(config);
  });

  it('offer one at least', () => {
    const off = { enabled: false };
    expect(issues({ resources: { projects: off, workflows: off, tools: off } })).to.deep.equal([
      'resources: are all switched off: one at least must be offered',
    ]);
    expect(issues({ upstreams: {}, resources: {} })).to.deep.equal([
      'upstreams: must hold the upstream of one resource at least: projects, workflows, tools',
    ]);
  });

  it('have no upstream that belongs to none of them, since it may be the misspelt name of one', () => {
    expect(issues({ upstreams: { projects: BASE, workflows: BASE, tolls: BASE }, resources: {} })).to.deep.equal([
      'upstreams.tolls: is the upstream of no resource; did you mean tools?',
    ]);
    expect(issues({ upstreams: { api: BASE, extra: BASE } })).to.deep.equal([
      'upstreams.extra: is the upstream of no resource',
    ]);
    expect(issues({ upstreams: { work: BASE }, resources: {} })).to.deep.equal([
      'upstreams.work: is the upstream of no resource; did you mean workflows?',
    ]);
    // One slip is one issue.
    expect(issues({ upstreams: { api: BASE, platform: BASE }, tools: { upstream: 'platfrom' } })).to.deep.equal([
      'resources.tools.upstream: must be a key of upstreams: there are api, platform',
    ]);
    expect(issues({ upstreams: { api: BASE, b: BASE }, tools: { upstream: 5 } })).to.have.length(1);
  });

  it('name the path of a list, and no query', () => {
    for (const path of ['/', '/a/b', '/a%20b', '/a:b(c)']) expect(issues({ tools: { path } })).to.deep.equal([]);
    const issue = 'resources.tools.path: must begin with /, and hold no query, fragment, space or backslash';
    for (const path of ['', 'a', '/a?', '/a#b', '/a b', '/a\\b', '/a\0', '/a\u001b[31m']) {
      expect(issues({ tools: { path } }), path).to.deep.equal([issue]);
    }
    expect(issues({ tools: { path: '/a?b=1' } })).to.deep.equal([`${issue}; what follows ? goes into query`]);
    expect(issues({ tools: { path: 'https://a/b' } })).to.deep.equal([
      `${issue}; where the API lives goes into baseUrl`,
    ]);
  });

  it('name the path of a list as it is sent, without segments that a URL takes out', () => {
    for (const path of ['/a/..b', '/.well-known/a', '/...']) expect(issues({ tools: { path } })).to.deep.equal([]);
    for (const path of ['/a/../b', '/.', '/a/%2E%2e/b', '/a/.%2e']) {
      expect(issues({ tools: { path } }), path).to.deep.equal([
        'resources.tools.path: must hold no segment . or ..: it is sent as it stands',
      ]);
    }
  });

  it('name what stands in the braces of a path, each and no other', () => {
    const tools = (path: string, pathParams?: object) => issues({ tools: { path, ...(pathParams && { pathParams }) } });
    expect(tools('/a/{b}/{c_1}-{b}', { b: 1, c_1: 'x' })).to.deep.equal([]);
    expect(tools('/a/{b}/{c}/{b}', { b: 1, d: 2 })).to.deep.equal([
      'resources.tools.path: has {c}, for which pathParams holds nothing',
      'resources.tools.pathParams.d: is not in path as {d}',
    ]);
    expect(tools('/a/{b}')).to.deep.equal(['resources.tools.path: has {b}, for which pathParams holds nothing']);
    for (const path of ['/{', '/}', '/{}', '/{a-b}', '/{{a}}', '/}a{']) {
      expect(tools(path, { a: 1 })[0], path).to.match(/^resources\.tools\.path: has a brace/);
    }
    for (const value of ['', '.', '..']) {
      expect(tools('/{a}', { a: value }), value).to.deep.equal([
        'resources.tools.pathParams.a: must not be empty, . or ..',
      ]);
    }
    expect(tools('/a', { 'b-c': 'x' })[0]).to.contain('must hold letters, digits and _ only');
    expect(tools('/a', [])).to.deep.equal(['resources.tools.pathParams: expected a block of keys, got a list']);
  });

  it('send a query parameter once, or once for each element of a list', () => {
    const query = (value: unknown) => issues({ tools: { query: { a: value } } });
    expect(parsed({ tools: { query: { a: ['x', 1, true], b: 'y' } } }).resources.tools.query).to.deep.equal({
      a: ['x', '1', 'true'],
      b: 'y',
    });
    expect(query([])).to.deep.equal(['resources.tools.query.a: must not be empty']);
    expect(query(['x', {}])).to.deep.equal(['resources.tools.query.a[1]: must be text']);
    expect(query(['x', 'é'])).to.deep.equal(['resources.tools.query.a[1]: must be printable ASCII']);
    expect(query('é')).to.deep.equal(['resources.tools.query.a: must be printable ASCII']);
    expect(query({})).to.deep.equal(['resources.tools.query.a: must be text']);
  });

  it('post a body where method is POST, and only there', () => {
    const body = { query: 'x', list: [1, { a: null }] };
    expect(parsed({ tools: { method: 'POST', body } }).resources.tools).to.deep.include({
      method: 'POST',
      body,
      retryPost: false,
    });
    expect(issues({ tools: { method: 'POST' } })).to.deep.equal([]);
    expect(issues({ tools: { method: 'POST', retryPost: true } })).to.deep.equal([]);
    expect(issues({ tools: { body, retryPost: true } })).to.deep.equal([
      'resources.tools.body: is sent with method: POST only',
      'resources.tools.retryPost: is about method: POST only',
    ]);
    expect(issues({ tools: { method: 'PUT' } })).to.deep.equal(['resources.tools.method: must be one of GET, POST']);
    expect(issues({ tools: { method: 'POST', body: [] } })).to.deep.equal([
      'resources.tools.body: expected a block of keys, got a list',
    ]);
    expect(issues({ tools: { method: 'POST', body: { a: 2 ** 60 } } })).to.deep.equal([
      'resources.tools.body: holds what JSON cannot: put a number of more than 15 digits in quotes',
    ]);
  });

  it('point into the body they have, each to a value of its own', () => {
    const tools = (pagination: Resource['pagination'], body?: object) =>
      issues({ tools: { method: 'POST', ...(body && { body }), pagination } });
    const token = (pointers: object) => ({ kind: 'token', ...pointers }) as Resource['pagination'];
    const body = { page: { size: 1, token: null, 'a/b': '' }, list: [0] };
    expect(tools(token({ sizeParam: '/page/size', tokenParam: '/page/a~1b' }), body)).to.deep.equal([]);
    expect(tools(token({ sizeParam: '/list/0', tokenParam: 'cursor' }), body)).to.deep.equal([]);
    expect(tools(token({ tokenParam: '/page/next' }), body)).to.deep.equal([
      'resources.tools.pagination.tokenParam: leads nowhere in body: write there what the first page is asked for with, or null',
    ]);
    expect(tools(token({ tokenParam: '/page' }), body)).to.deep.equal([
      'resources.tools.pagination.tokenParam: leads to a block or list of body, not to a value',
    ]);
    expect(tools(token({ tokenParam: '/page/~x' }), body)).to.deep.equal([
      'resources.tools.pagination.tokenParam: is no JSON pointer: write ~0 for ~, and ~1 for / in a name',
    ]);
    expect(tools(token({ sizeParam: '/page/size', tokenParam: '/page/size' }), body)).to.deep.equal([
      'resources.tools.pagination.tokenParam: must not be the parameter that sizeParam names',
    ]);
    const none = 'points into body (it begins with /), and there is none';
    expect(tools({ kind: 'offset', sizeParam: '/n', offsetParam: '/from' })).to.deep.equal([
      `resources.tools.pagination.sizeParam: ${none}`,
      `resources.tools.pagination.offsetParam: ${none}`,
    ]);
    expect(issues({ tools: { pagination: { kind: 'page', pageParam: '/page' } } })).to.deep.equal([
      `resources.tools.pagination.pageParam: ${none}`,
    ]);
    expect(
      issues({ tools: { method: 'POST', body: 5 as never, pagination: token({ tokenParam: '/a' }) } }),
    ).to.deep.equal(['resources.tools.body: expected a block of keys, got a number']);
  });

  it('send no credential in the query, and say why', () => {
    const why =
      'carries a credential, and that must not stand in an address, which platforms and proxies on the way write into their logs: send it as a header, under credential or headers of the upstream';
    const names = [
      'api_key',
      'apikey',
      'API-Key',
      'x-api-key',
      'access_token',
      'token',
      'auth',
      'client_secret',
      'sig',
    ];
    for (const name of [...names, 'Password', 'passwd', 'subscription-key', 'authToken', 'jwt', 'session_token']) {
      expect(issues({ tools: { query: { [name]: 'x' } } })).to.deep.equal([`resources.tools.query.${name}: ${why}`]);
    }
    const secret = 'AIzaSyA1b2C3d4E5f6G7h8I9';
    for (const key of [secret, ['x', secret]]) {
      expect(issues({ tools: { query: { key } } })).to.deep.equal([`resources.tools.query.key: ${why}`]);
    }
    for (const name of ['key', 'sort_key', 'keys', 'tokens', 'author', 'group', 'state', 'with_secrets', 'sigma']) {
      expect(issues({ tools: { query: { [name]: 'SCANNERS' } } }), name).to.deep.equal([]);
    }
  });

  it('send headers of their own, but none that carries a credential or that HTTP decides on', () => {
    const headers = (names: readonly string[], api = {}) =>
      issues({ api, tools: { headers: Object.fromEntries(names.map((name) => [name, 'x'])) } });
    expect(headers(['Accept', 'X-Tenant', 'X-Author', 'Prefer'])).to.deep.equal([]);
    const names = [
      'Authorization',
      'cookie',
      'X-Api-Key',
      'apikey',
      'X-Auth-Token',
      'X-Vault-Token',
      'X-Secret',
      'Key',
    ];
    for (const name of names) {
      expect(headers([name])).to.deep.equal([
        `resources.tools.headers.${name}: is for a credential: it belongs under credential or headers of the upstream`,
      ]);
    }
    for (const name of ['Host', 'Content-Length', 'Transfer-Encoding', 'Content-Encoding', 'Connection', 'Range']) {
      expect(headers([name])).to.deep.equal([
        `resources.tools.headers.${name}: is a header that HTTP or Portico itself decides on`,
      ]);
    }
    expect(headers(['X-A', 'x-a'])).to.deep.equal([
      'resources.tools.headers.x-a: stands there twice: case makes no difference',
    ]);
    expect(headers(['x-who'], { credential: { kind: 'header', name: 'X-Who' } })).to.deep.equal([
      "resources.tools.headers.x-who: is the header of its upstream's credential",
    ]);
  });

  it('send no query parameter that pagination sends', () => {
    const query = { pageSize: 5, pageToken: 'a', installed: true };
    expect(issues({ tools: { query } })).to.deep.equal([
      'resources.tools.query.pageSize: is what pagination sends as its sizeParam',
      'resources.tools.query.pageToken: is what pagination sends as its tokenParam',
    ]);
    expect(issues({ tools: { query, pagination: { kind: 'none' } } })).to.deep.equal([]);
    expect(issues({ tools: { query: { limit: 1, per_page: 1 }, pagination: { kind: 'offset' } } })).to.deep.equal([
      'resources.tools.query.limit: is what pagination sends as its sizeParam',
    ]);
    expect(issues({ tools: { query: { per_page: 1 }, pagination: { kind: 'link', sizeParam: null } } })).to.deep.equal(
      [],
    );
  });

  it('give each pagination parameter a name of its own', () => {
    const pagination: Resource['pagination'] = { kind: 'page', sizeParam: 'page' };
    expect(issues({ tools: { pagination } })).to.deep.equal([
      'resources.tools.pagination.pageParam: must not be the parameter that sizeParam names',
    ]);
    const ends: Resource['pagination'] = { kind: 'offset', sizeParam: null, offsetParam: 'from', endParam: 'from' };
    expect(issues({ tools: { pagination: ends } })).to.deep.equal([
      'resources.tools.pagination.endParam: must not be the parameter that offsetParam names',
    ]);
  });

  it('say in one place where the total stands', () => {
    for (const kind of ['offset', 'page']) {
      expect(issues({ tools: { pagination: { kind, total: 'a' } } })).to.deep.equal([]);
      expect(issues({ tools: { pagination: { kind, totalHeader: 'a' } } })).to.deep.equal([]);
      expect(issues({ tools: { pagination: { kind, total: 'a', totalHeader: 'b' } } })).to.deep.equal([
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

  it('find what they need in what the platform sends, and do not write it down', () => {
    const constant =
      'names no field, and gives the same whatever the platform sends: quotes and backticks make a text of a name';
    for (const [tools, key] of [
      [{ items: '`[]`' }, 'items'],
      [{ items: "'tools'" }, 'items'],
      [{ where: '`false`' }, 'where'],
      [{ where: 'not_null(\'a\', `{"b": 1}`)' }, 'where'],
      [{ pagination: { kind: 'token', next: "'next'" } }, 'pagination.next'],
      [{ pagination: { kind: 'link', next: "'next'" } }, 'pagination.next'],
      [{ pagination: { kind: 'offset', total: '`0`' } }, 'pagination.total'],
      [{ fields: { id: "'x'" } }, 'fields.id'],
      [{ fields: { id: { from: '`null`' } } }, 'fields.id.from'],
    ] as const) {
      expect(issues({ tools }), JSON.stringify(tools)).to.deep.equal([`resources.tools.${key}: ${constant}`]);
    }
    for (const tools of [
      ...['@', '$', '[0]', '[]', '*', '[1:]', '[*].a', 'length(@)'].map((items) => ({ items })),
      { where: "'a' == b" },
      { fields: { id: "join('-', [a, 'x'])", category: "'other'" } },
    ]) {
      expect(issues({ tools }), JSON.stringify(tools)).to.deep.equal([]);
    }
  });

  it('have a time for the default of a time, in the form in which it is served', () => {
    const withDefault = (value: string, format: object = { format: 'timestamp' }) =>
      issues({ tools: { fields: { version: { default: value, ...format } } } });
    for (const value of ['', '2026-01-02T03:04:05Z', '2026-01-02T03:04:05.5Z']) {
      expect(withDefault(value), value).to.deep.equal([]);
    }
    for (const value of ['never', '2026-01-02', '2026-01-02T03:04:05+01:00', '1767323045']) {
      expect(withDefault(value), value).to.deep.equal([
        'resources.tools.fields.version.default: must be a time as it is served, such as 2026-01-02T03:04:05Z',
      ]);
    }
    expect(withDefault('latest', {})).to.deep.equal([]);
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
    expect(issues({ resources: { projects: { cache: { ttlMs: 0 } } } })[0]).to.contain(
      'resources.projects.cache: unknown key',
    );
  });
});

describe('the settings of TLS', () => {
  const FILES = { certFile: 'a', keyFile: 'b' };

  it('name certificate and key of a listener, and are not for a Unix socket', () => {
    expect(issues({ http: { tls: FILES }, admin: { tls: FILES } })).to.deep.equal([]);
    expect(issues({ http: { tls: { certFile: 'a' } as typeof FILES } })).to.deep.equal([
      'http.tls.keyFile: is required',
    ]);
    expect(issues({ http: { tls: FILES, socketPath: '/a' } })).to.deep.equal([
      'http.tls: stands beside socketPath: whoever reaches a Unix socket is on this machine',
    ]);
  });

  it('of an upstream go with https, and have a certificate and its key together', () => {
    expect(issues({ api: { tls: { caFile: 'a', ...FILES, serverName: 'api.internal' } } })).to.deep.equal([]);
    expect(issues({ api: { baseUrl: 'http://a.example', tls: {} } })).to.deep.equal([
      'upstreams.api.tls: goes with a baseUrl of https',
    ]);
    expect(issues({ api: { tls: { certFile: 'a' } } })).to.deep.equal([
      'upstreams.api.tls.certFile: needs certFile and keyFile, both of them',
    ]);
    expect(issues({ api: { tls: { keyFile: 'a' } } })).to.deep.equal([
      'upstreams.api.tls.keyFile: needs certFile and keyFile, both of them',
    ]);
    for (const serverName of ['', 'a:443', 'https://a', '-a', 'a b']) {
      expect(issues({ api: { tls: { serverName } } })).to.have.lengthOf(1);
    }
  });

  it('let nobody leave out what makes it safe', () => {
    for (const key of ['rejectUnauthorized', 'insecureSkipVerify', 'verify']) {
      expect(issues({ api: { tls: { [key]: false } } })).to.match(/unknown key/);
    }
    expect(issues({ api: { tls: { minVersion: 'TLSv1.1' } } })).to.have.lengthOf(1);
  });
});

describe('the settings of a proxy', () => {
  it('are where it is and who asks, which no URL holds', () => {
    expect(issues({ api: { proxy: { url: 'http://proxy:3128', user: 'a', password: 'b c' } } })).to.deep.equal([]);
    for (const url of ['http://a:b@proxy', 'http://proxy/path', 'http://proxy?a', 'http://proxy#a']) {
      expect(issues({ api: { proxy: { url } } })).to.deep.equal([
        'upstreams.api.proxy.url: must hold nothing but scheme, host and port; user and password are keys beside it',
      ]);
    }
    for (const url of ['socks5://proxy', 'proxy:3128', ''])
      expect(issues({ api: { proxy: { url } } })).to.have.lengthOf(1);
    expect(issues({ api: { proxy: { url: 'http://proxy', password: 'a' } } })).to.deep.equal([
      'upstreams.api.proxy.password: needs a user beside it',
    ]);
  });
});

describe('the settings of what replicas share', () => {
  const keySecretFile = '/run/secrets/fleet';
  const shared = (more: object) => issues({ shared: { url: 'redis://redis.example', keySecretFile, ...more } });

  it('take the URLs of a host and of a socket', () => {
    for (const url of [
      'redis://a',
      'redis://a:6380/2',
      'rediss://redis.example:6379/',
      'redis://[::1]:1',
      'unix:///run/r',
    ]) {
      expect(shared({ url }), url).to.deep.equal([]);
    }
    for (const url of ['', 'a', 'redis:', 'redis://', 'http://a', 'unix://run', 'unix:/run/r', 'REDIS://a']) {
      expect(shared({ url }), url).to.deep.equal([
        'shared.url: must be redis://host:port, rediss://host:port or unix:///path/of/socket',
      ]);
    }
    for (const url of ['redis://a/b', 'redis://a?x=1', 'redis://a#x', 'redis://a/1/2', 'unix:///run/r?db=1']) {
      expect(shared({ url }), url).to.have.length(1);
    }
  });

  it('refuse a URL with a user or a password, say where those go, and print nothing of it', () => {
    for (const url of ['redis://user:hidden@a', 'redis://:hidden@a:1', 'rediss://hidden@a', 'unix://u:hidden@/run/r']) {
      expect(shared({ url }), url).to.deep.equal([
        'shared.url: must hold no user and password: URLs get printed. Set username and passwordFile',
      ]);
    }
  });

  it('need what goes together', () => {
    expect(shared({ url: 'rediss://a', tls: { caFile: '/ca', certFile: '/a', keyFile: '/b' } })).to.deep.equal([]);
    expect(shared({ tls: {} })).to.deep.equal(['shared.tls: needs a url that begins with rediss']);
    expect(shared({ url: 'rediss://a', tls: { keyFile: '/a' } })).to.deep.equal([
      'shared.tls.keyFile: needs certFile and keyFile, both of them',
    ]);
    expect(shared({ username: 'portico', passwordFile: '/p' })).to.deep.equal([]);
    expect(shared({ username: 'portico' })).to.deep.equal(['shared.username: needs passwordFile']);
    expect(shared({ previousKeySecretFile: keySecretFile })).to.deep.equal([
      'shared.previousKeySecretFile: is keySecretFile',
    ]);
    expect(shared({ cluster: true })).to.deep.equal([]);
    for (const url of ['unix:///run/r', 'redis://a/1']) {
      expect(shared({ cluster: true, url }), url).to.deep.equal([
        'shared.cluster: needs a url of a host: a cluster has no socket, and no databases',
      ]);
    }
    for (const prefix of ['', 'a b', '{a}', 'x'.repeat(65)]) expect(shared({ prefix }), prefix).to.have.length(1);
  });
});
