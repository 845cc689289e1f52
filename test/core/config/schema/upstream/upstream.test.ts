import { expect } from 'chai';
import type { SettingsInput } from '../../../../../src/core/config/schema/settings.ts';
import { BASE, issues, parsed } from '../parsed.ts';

type Upstream = SettingsInput['upstreams'][string];

describe('the settings of an upstream', () => {
  it('have a name that is safe in logs and as a key', () => {
    for (const name of ['a', 'A1', 'my-api', 'my_api']) {
      expect(issues({ upstreams: { api: BASE, [name]: BASE }, tools: { upstream: name } })).to.deep.equal([]);
    }
    for (const name of ['', '1a', 'a b', 'a.b', '-a', '_a', 'é']) {
      const ofNames = issues({ upstreams: { api: BASE, [name]: BASE } }).filter(
        (issue) => !issue.includes('no resource'),
      );
      expect(ofNames, name).to.have.length(1);
    }
  });

  it('have a URL with an origin and a path only', () => {
    for (const baseUrl of ['http://a', 'https://a.example:8443/v1', 'https://[::1]', 'https://a/b%20c']) {
      expect(issues({ api: { baseUrl } })).to.deep.equal([]);
    }
    for (const baseUrl of ['a.example', 'a.example:8443/v1', 'ftp://a', 'file:///a', '', 'https://', '//a']) {
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

  it('have a URL that is sent unchanged', () => {
    const refused: Readonly<Record<string, string>> = {
      'https://a\\v1': 'must hold no space, line break or backslash',
      'https://a/b c': 'must hold no space, line break or backslash',
      'https://a/{org}/v1': 'must not contain braces: {name} belongs in the path of a resource, with pathParams',
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
      ...['Host', 'connection', 'Content-Length', 'Transfer-Encoding', 'TE', 'Upgrade', 'Expect', 'Keep-Alive'],
      ...['Proxy-Authorization', 'proxy-x', 'Trailer', 'Accept-Encoding', 'If-None-Match', 'Range', 'traceparent'],
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

  it('do not send the header of the credential themselves', () => {
    const taken = (name: string) => [`upstreams.api.headers.${name}: is the header of the credential`];
    const headers = { AUTHORIZATION: 'a' };
    const own: Upstream['credential'] = { kind: 'header', name: 'X-Key' };
    expect(issues({ api: { headers } })).to.deep.equal(taken('AUTHORIZATION'));
    expect(issues({ api: { headers, credential: own } })).to.deep.equal([]);
    expect(issues({ api: { headers: { 'x-key': 'a' }, credential: own } })).to.deep.equal(taken('x-key'));
    expect(issues({ api: { headers, credential: { kind: 'none' } }, allowUnverifiedCallers: true })).to.deep.equal([]);
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

  it('send no credential in the query, with a reason', () => {
    expect(issues({ api: { credential: { kind: 'query', name: 'api_key' } } })).to.deep.equal([
      'upstreams.api.credential.kind: query is none of them: a credential must not stand in an address, which platforms and proxies on the way write into their logs: send it as a header, under credential or headers of the upstream',
    ]);
    expect(issues({ api: { credential: { kind: 'headr' } } })).to.deep.equal([
      'upstreams.api.credential.kind: must be one of passthrough, header, exchange, service, none; did you mean header?',
    ]);
  });

  it('go without a credential only where unverified callers are allowed', () => {
    expect(issues({ api: { credential: { kind: 'none' } } })).to.deep.equal([
      'upstreams.api.credential.kind: none accepts every caller, and callers are not verified: set verification, or allowUnverifiedCallers: true if this is intended',
    ]);
    expect(issues({ api: { credential: { kind: 'none' } }, allowUnverifiedCallers: true })).to.deep.equal([]);
  });

  it("go with a secret of the deployment's own only where unverified callers are allowed", () => {
    const credential = { kind: 'service', file: '/run/secrets/acme' };
    expect(issues({ api: { credential } })).to.deep.equal([
      'upstreams.api.credential.kind: service gives every caller the access of its secret, and callers are not verified: set verification, or allowUnverifiedCallers: true if this is intended',
    ]);
    expect(issues({ api: { credential }, allowUnverifiedCallers: true })).to.deep.equal([]);
  });

  it('have one secret for service, in a file or in settings', () => {
    const issuesOf = (credential: object) =>
      issues({ api: { credential: { kind: 'service', ...credential } }, allowUnverifiedCallers: true });
    expect(issuesOf({})).to.deep.equal(['upstreams.api.credential: needs a secret: file, or secret as "${NAME}"']);
    expect(issuesOf({ file: '/a', secret: 'b' })).to.deep.equal([
      'upstreams.api.credential.secret: cannot be combined with file: set one of them',
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
  const TLS_CLIENT = { kind: 'tls_client_auth', id: 'a' };
  const { client: CLIENT } = EXCHANGE;
  /** Changes of an exchange of tokens that is right, each with what is then wrong. */
  const EXCHANGES: readonly (readonly [change: object, issue?: string])[] = [
    [{}],
    [{ tokenUrl: 'https://login.example/t', resource: 'urn:acme' }],
    [{ issuer: 'http://127.0.0.1:9' }],
    [{ client: TLS_CLIENT, tls: { certFile: '/c', keyFile: '/k' } }],
    [{ client: { kind: 'private_key_jwt', id: 'a', keyFile: '/k' } }],
    [{ issuer: undefined }, ': needs an authorization server: issuer, or tokenUrl'],
    [{ audience: undefined }, ': needs the platform that tokens are for: audience, or resource'],
    [{ issuer: 'http://login.example' }, '.issuer: must be an https URL: http is for loopback alone'],
    [{ issuer: 'ftp://login.example' }, '.issuer: must be an https URL'],
    [
      { issuer: 'https://login.example/.well-known/openid-configuration' },
      '.issuer: must be the issuer itself, as tokens name it in iss: leave out /.well-known/ and what follows',
    ],
    [{ resource: 'https://a.example/#b' }, '.resource: must hold no fragment'],
    [{ client: { kind: 'client_secret_post', id: 'a' } }, '.client: needs a secret: file, or secret as "${NAME}"'],
    [{ client: { ...CLIENT, secret: 'hush' } }, '.client.secret: cannot be combined with file: set one of them'],
    [{ client: { ...CLIENT, id: '' } }, '.client.id: must not be empty'],
    [
      { client: TLS_CLIENT, tls: { caFile: '/ca' } },
      '.client: needs a certificate: certFile and keyFile in tls beside it',
    ],
    [{ tls: { certFile: '/c' } }, '.tls.certFile: needs certFile and keyFile, both of them'],
    [{ scopes: ['a b'] }, '.scopes[0]: must be one scope: printable ASCII without space, quote or backslash'],
  ];
  for (const [change, issue] of EXCHANGES) {
    it(`${issue === undefined ? 'may' : 'may not'} exchange tokens with ${JSON.stringify(change)}`, () => {
      const found = issues({ api: { credential: { ...EXCHANGE, ...change } } });
      expect(found).to.deep.equal(issue === undefined ? [] : [`upstreams.api.credential${issue}`]);
    });
  }

  it('keep the header of an exchanged token to themselves', () => {
    expect(issues({ api: { headers: { Authorization: 'a' }, credential: EXCHANGE } })).to.deep.equal([
      'upstreams.api.headers.Authorization: is the header of the credential',
    ]);
  });

  it('send the secret of service in the configured header, in none twice', () => {
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

describe('the settings of a proxy', () => {
  it('have a proxy address and credentials of their own, not in the URL', () => {
    expect(issues({ api: { proxy: { url: 'http://proxy:3128', user: 'a', password: 'b c' } } })).to.deep.equal([]);
    for (const url of ['http://a:b@proxy', 'http://proxy/path', 'http://proxy?a', 'http://proxy#a']) {
      expect(issues({ api: { proxy: { url } } })).to.deep.equal([
        'upstreams.api.proxy.url: must hold nothing but scheme, host and port; user and password are keys beside it',
      ]);
    }
    for (const url of ['socks5://proxy', 'proxy:3128', ''])
      expect(issues({ api: { proxy: { url } } })).to.have.lengthOf(1);
  });
});
