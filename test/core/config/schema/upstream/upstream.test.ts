import { expect } from 'chai';
import { BASE, issues, issuesOfApi, parsed } from '../parsed.ts';

const DECIDED = 'is a header that HTTP or Portico sets itself';
const TAKEN = 'is already the header of the credential';
const UNVERIFIED =
  'and callers are not verified: set verification, or allowUnverifiedCallers: true if this is intended';
const byHeader = (more: object) => ({ credential: { kind: 'header', name: 'X-Key', ...more } });
const service = (more: object, headers = {}) => ({ headers, credential: { kind: 'service', ...more } });

/** Settings of an upstream that are wrong, with all that is wrong with them. */
const WRONG: readonly (readonly [api: object, ...issues: string[]])[] = [
  ...['a.example', 'a.example:8443/v1', 'ftp://a', 'file:///a', '', 'https://', '//a'].map((baseUrl) => {
    return [{ baseUrl }, 'baseUrl: must be an http or https URL'] as const;
  }),
  ...['https://u@a', 'https://u:p@a', 'https://a?b', 'https://a#b', 'https://a/?key=1'].map((baseUrl) => {
    return [{ baseUrl }, 'baseUrl: must not contain user, password, query or fragment'] as const;
  }),
  ...['https://a\\v1', 'https://a/b c'].map((baseUrl) => {
    return [{ baseUrl }, 'baseUrl: must not contain spaces, line breaks or backslashes'] as const;
  }),
  [
    { baseUrl: 'https://a/{org}/v1' },
    'baseUrl: must not contain braces: values of callers belong in the path of a resource',
  ],
  ...['Host', 'Transfer-Encoding', 'proxy-x', 'If-None-Match', 'traceparent'].flatMap((name) => [
    [{ headers: { [name]: 'a' } }, `headers.${name}: ${DECIDED}`] as const,
    [byHeader({ name }), `credential.name: ${DECIDED}`] as const,
  ]),
  [{ headers: { AUTHORIZATION: 'a' } }, `headers.AUTHORIZATION: ${TAKEN}`],
  [{ headers: { 'x-key': 'a' }, ...byHeader({}) }, `headers.x-key: ${TAKEN}`],
  [{ headers: { 'X-A': 'a\r\nX-B: c' } }, 'headers.X-A: must be printable ASCII'],
  [{ headers: { 'a b': 'c' } }, 'headers["a b"]: must be an HTTP header name'],
  ...['', 'Token', '{token}{token}'].map((format) => {
    return [byHeader({ format }), 'credential.format: must contain {token} exactly once'] as const;
  }),
  [byHeader({ format: '{token}\n' }), 'credential.format: must be printable ASCII'],
  [
    { credential: { kind: 'query', name: 'api_key' } },
    'credential.kind: query is none of them: a credential must not be part of a URL, because platforms and proxies log URLs: send it as a header, by credential or headers of the upstream',
  ],
  [
    { credential: { kind: 'headr' } },
    'credential.kind: must be one of passthrough, header, exchange, client-credentials, service, session, none',
  ],
];

/** The same of an upstream whose callers need not be verified. */
const WRONG_SERVICE: readonly (readonly [api: object, issue: string])[] = [
  [service({}), 'credential: needs a secret: file, or secret as "${NAME}"'],
  [
    service({ secret: 'a', second: { name: 'X-Id' } }),
    'credential.second: needs a secret: file, or secret as "${NAME}"',
  ],
  [service({ secret: 'a', second: { name: 'X-Id', secret: 'b' } }, { 'x-id': 'c' }), `headers.x-id: ${TAKEN}`],
  [
    { credential: { kind: 'session', secret: 'a', loginUrl: 'https://a.example' } },
    'credential: needs user, for a login by Basic credentials, or body',
  ],
  [
    {
      credential: { kind: 'session', secret: 'a', user: 'b', loginUrl: 'https://a', cookie: 'c' },
      headers: { Cookie: 'd' },
    },
    `headers.Cookie: ${TAKEN}`,
  ],
  [
    { credential: { kind: 'client-credentials', client: { kind: 'client_secret_post', id: 'a', secret: 'b' } } },
    'credential: needs an authorization server: issuer or tokenUrl',
  ],
  [service({ file: '/a', secret: 'b' }), 'credential.secret: cannot be combined with file: set one of them'],
  [service({ file: '' }), 'credential.file: Too small: expected string to have >=1 characters'],
  ...['', ' ', 'a\n', ' a', 'a\r\nX-B: c', 'ä', '\u0000'].map((secret) => {
    return [service({ secret }), 'credential.secret: must be printable ASCII without surrounding white space'] as const;
  }),
  [service({ secret: 'a', user: 'a:b' }), 'credential.user: must be printable ASCII without a colon (RFC 7617)'],
  [service({ secret: 'a', format: 'Bearer' }), 'credential.format: must contain {token} exactly once'],
  [service({ secret: 'a', name: 'Host' }), `credential.name: ${DECIDED}`],
  [service({ secret: 'a' }, { authorization: 'b' }), `headers.authorization: ${TAKEN}`],
  [service({ secret: 'a', name: 'X-Key' }, { 'x-key': 'b' }), `headers.x-key: ${TAKEN}`],
];

/** Settings of an upstream with which nothing is wrong, where callers need not be verified. */
const RIGHT: readonly object[] = [
  ...['http://a', 'https://a.example:8443/v1', 'https://[::1]', 'https://a/b%20c'].map((baseUrl) => ({ baseUrl })),
  ...['https://a/..b/v1...', 'https://a/%7Borg%7D', ' https://a/v1\n'].map((baseUrl) => ({ baseUrl })),
  { headers: { Accept: 'a', 'User-Agent': 'b', Cookie: 'c', 'X-T': 'd' } },
  { headers: { AUTHORIZATION: 'a' }, ...byHeader({}) },
  { headers: { AUTHORIZATION: 'a' }, credential: { kind: 'none' } },
  byHeader({ format: 'Token {token}' }),
  service({ file: '/run/secrets/acme' }),
  service({ secret: 'a b' }),
  service({ secret: 'a', name: 'X-Key' }, { authorization: 'b' }),
  { proxy: { url: 'http://proxy:3128', user: 'a', password: 'b c' } },
];

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
  [{ issuer: undefined }, ': needs an authorization server: issuer or tokenUrl'],
  [{ audience: undefined }, ': needs the platform that tokens are for: audience or resource'],
  [{ issuer: 'http://login.example' }, '.issuer: must be an https URL: http is for loopback alone'],
  [{ issuer: 'ftp://login.example' }, '.issuer: must be an https URL'],
  [
    { issuer: 'https://login.example/.well-known/openid-configuration' },
    '.issuer: must be the issuer as in iss: remove /.well-known/ and what follows',
  ],
  [{ resource: 'https://a.example/#b' }, '.resource: must not contain a fragment'],
  [{ client: { kind: 'client_secret_post', id: 'a' } }, '.client: needs a secret: file, or secret as "${NAME}"'],
  [{ client: { ...CLIENT, secret: 'hush' } }, '.client.secret: cannot be combined with file: set one of them'],
  [{ client: { ...CLIENT, id: '' } }, '.client.id: Too small: expected string to have >=1 characters'],
  [
    { client: TLS_CLIENT, tls: { caFile: '/ca' } },
    '.client: needs a client certificate: tls.certFile and tls.keyFile of this credential',
  ],
  [{ tls: { certFile: '/c' } }, '.tls.certFile: needs both certFile and keyFile'],
  [{ scopes: ['a b'] }, '.scopes[0]: must be one scope: printable ASCII without space, quote or backslash'],
];
const ALL = { allowUnverifiedCallers: true };

describe('the settings of an upstream', () => {
  for (const [api, ...expected] of WRONG) {
    it(`refuse ${JSON.stringify(api)}: ${expected[0]}`, () => {
      expect(issuesOfApi(api)).to.deep.equal(expected);
    });
  }
  for (const [api, issue] of WRONG_SERVICE) {
    it(`refuse ${JSON.stringify(api)}: ${issue}`, () => {
      expect(issuesOfApi(api, ALL)).to.deep.equal([issue]);
    });
  }
  for (const api of RIGHT) {
    it(`accept ${JSON.stringify(api)}`, () => {
      expect(issuesOfApi(api, ALL)).to.deep.equal([]);
    });
  }
  for (const [change, issue] of EXCHANGES) {
    it(`${issue === undefined ? 'may' : 'may not'} exchange tokens with ${JSON.stringify(change)}`, () => {
      const found = issues({ api: { credential: { ...EXCHANGE, ...change } } });
      expect(found).to.deep.equal(issue === undefined ? [] : [`upstreams.api.credential${issue}`]);
    });
  }

  it('have a name that is safe in logs and as a key', () => {
    for (const name of ['a', 'A1', 'my-api', 'my_api']) {
      expect(issues({ upstreams: { api: BASE, [name]: BASE }, tools: { upstream: name } })).to.deep.equal([]);
    }
    for (const name of ['', '1a', 'a b', 'a.b', '-a', '_a', 'é']) {
      const found = issues({ upstreams: { api: BASE, [name]: BASE } }).filter(
        (issue) => !issue.includes('of any resource'),
      );
      expect(found, name).to.have.length(1);
    }
  });

  it('have a URL without slash at its end, since paths begin with one, and headers of text', () => {
    const { upstreams } = parsed({ api: { baseUrl: 'https://a.example/v1/', headers: { 'X-A': 5, 'X-B': false } } });
    expect(upstreams['api']).to.deep.include({
      baseUrl: 'https://a.example/v1',
      headers: { 'X-A': '5', 'X-B': 'false' },
    });
    expect(parsed({ api: { baseUrl: 'https://a.example/' } }).upstreams['api']?.baseUrl).to.equal('https://a.example');
  });

  it('go without a credential only where unverified callers are allowed, and with a secret of their own', () => {
    for (const [credential, what] of [
      [{ kind: 'none' }, 'none gives every caller the same access'],
      [{ kind: 'service', file: '/run/secrets/acme' }, 'service gives every caller the same access'],
    ] as const) {
      expect(issuesOfApi({ credential })).to.deep.equal([`credential.kind: ${what}, ${UNVERIFIED}`]);
      expect(issuesOfApi({ credential }, ALL)).to.deep.equal([]);
    }
  });

  it('have one issue for each wrong type', () => {
    expect(issuesOfApi({ headers: 5, ...byHeader({ name: 7 }) })).to.have.length(2);
  });

  it('keep the header of an exchanged token to themselves', () => {
    expect(issuesOfApi({ headers: { Authorization: 'a' }, credential: EXCHANGE })).to.deep.equal([
      `headers.Authorization: ${TAKEN}`,
    ]);
  });

  it('have a proxy address and credentials of their own, not in the URL', () => {
    for (const url of ['http://a:b@proxy', 'http://proxy/path', 'http://proxy?a', 'http://proxy#a']) {
      expect(issuesOfApi({ proxy: { url } })).to.deep.equal([
        'proxy.url: must consist of scheme, host and port only; user and password are separate keys',
      ]);
    }
    for (const url of ['socks5://proxy', 'proxy:3128', '']) expect(issuesOfApi({ proxy: { url } })).to.have.lengthOf(1);
  });
});
