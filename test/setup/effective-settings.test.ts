import { expect } from 'chai';
import fc from 'fast-check';
import { parse } from 'yaml';
import type { Environment } from '../../src/core/config/environment.ts';
import { effectiveSettings } from '../../src/setup/effective-settings.ts';
import { load as loadText, UPSTREAMS } from '../core/config/settings-file.ts';

const BASE = 'upstreams:\n  projects: { baseUrl: https://a.example }\n  workflows: { baseUrl: https://a.example }\n';

const MASK = '[masked]';

async function load(yaml: string, environment?: Environment) {
  const { settings, isFromEnvironment } = await loadText(yaml, environment);
  return { settings, masked: () => effectiveSettings(settings, isFromEnvironment) };
}

describe('the effective settings', () => {
  it('read back as the settings that they show', async () => {
    const { settings: config, masked } = await load(
      `scheme: a
http: { allowedOrigins: [https://a.example], socketPath: "a$\${b} # 'x\\"" }
allowUnverifiedCallers: true
resources:
  projects: { query: { q: 'true', r: 007, s: '' }, fields: { id: uuid, name: { values: { 'true': "yes" } } } }
  tools: { where: "a == \`1\`", pagination: { kind: page, sizeParam: null } }
${BASE}  tools: { baseUrl: https://a.example/x/, credential: { kind: none }, headers: { Accept-Version: 1.0 } }
`,
    );
    expect((await load(masked())).settings).to.deep.equal(config);
  });

  it('show every default', async () => {
    const { settings: config, masked } = await load(UPSTREAMS);
    expect(parse(masked())).to.deep.equal(config);
    expect(masked())
      .to.contain('timeoutMs: 10000')
      .and.not.match(/[&*]a\d/);
  });

  /** The effective settings of a file with these keys of the upstream for tools, and further blocks. */
  async function shown(ofTools: string, more = '') {
    const { masked } = await load(`${more}\n${BASE}  tools: { baseUrl: https://a.example, ${ofTools} }\n`);
    return parse(masked());
  }

  it('mask the secret of introspection', async () => {
    const introspection = 'introspection: { clientId: portico, secret: hush }';
    const { verification } = await shown(
      '',
      `verification: { issuer: https://a.example, audience: a, ${introspection} }`,
    );
    expect(verification.introspection).to.include({ clientId: 'portico', secret: MASK });
  });

  it('mask what may be a key in the query or path of parents and of joined lists, too', async () => {
    const list =
      '{ path: /l/a1b2c3d4e5f6a7b8c9d0e1f2, query: { X-Credential: open, sessionState: open, state: open } }';
    const masked = { path: MASK, query: { 'X-Credential': MASK, sessionState: MASK, state: 'open' } };
    const { resources } = await shown(
      '',
      `resources: { tools: { lists: [${list}] }, workflows: { path: '/{parent.id}', each: ${list} } }`,
    );
    expect(resources.tools.lists[0]).to.deep.equal(masked);
    expect(resources.workflows.each).to.deep.include(masked);
  });

  it('mask the password of a proxy, and nothing else of it', async () => {
    const { upstreams } = await shown('proxy: { url: http://proxy.example:3128, user: portico, password: open }');
    const proxy = { url: 'http://proxy.example:3128', user: 'portico', password: MASK };
    expect(upstreams.tools.proxy).to.deep.equal(proxy);
  });

  it('mask values that look like a secret, whatever their name', async () => {
    const secret = [
      ...['Bearer abc', 'basic YTpi', 'ApiKey x', 'a1b2c3d4-e5f6-4711-8899-aabbccddeeff'],
      'x sk_live_4eC39HqLyjWDarjtT1',
      ...['aws4/key7/eu-west/signing-part', 'T0451.Kx81jf02.q93jf1', 'user7:pass-word-of-it'],
    ];
    const open = ['application/json', 'true', '2026-01-01', 'platform.example/projects/all-of-them', 'bearer'];
    const values = [...secret, ...open];
    const block = JSON.stringify({ tools: { query: { ...values } }, projects: { query: { n: values } } });
    const { resources } = await shown('', `resources: ${block.replaceAll(/"(\d+)":/g, '"n$1":')}`);
    for (const texts of [resources.tools.query, resources.projects.query.n]) {
      expect(Object.values(texts)).to.deep.equal([...secret.map(() => MASK), ...open]);
    }
  });

  it('mask every header except those of content negotiation', async () => {
    const open = { Accept: 'application/json', 'User-Agent': 'portico (acme)', 'X-GitHub-Api-Version': '2022-11-28' };
    const headers = `headers: ${JSON.stringify({ 'X-A': 'abc/de1.f:2', 'X-Team': 'blue', 'X-Plan': '7', Cookie: 'open', ...open })}`;
    const { upstreams } = await shown(headers, '');
    const masked = { 'X-A': MASK, 'X-Team': MASK, 'X-Plan': MASK, Cookie: MASK };
    expect(upstreams.tools.headers).to.deep.equal({ ...masked, ...open });
  });

  it('mask an address with a segment that looks like a key, and no other', async () => {
    const { masked } = await load(
      `resources:
  projects: { path: /hooks/T0451/B77/q93jf1Kx81jf02aa/list }
  workflows: { path: /t/user7:pass-word-of-it/v2/workflows }
  tools: { path: /v2/organizations-of-acme/tools }
upstreams:
  projects: { baseUrl: https://api7.platform.acme.example/v1 }
  workflows: { baseUrl: https://a.example/q93jf1Kx81jf02aa }
  tools: { baseUrl: https://a.example }
`,
    );
    const { upstreams, resources } = parse(masked());
    expect(resources.projects.path).to.equal(MASK);
    expect(resources.workflows.path).to.equal(MASK);
    expect(resources.tools.path).to.equal('/v2/organizations-of-acme/tools');
    expect(upstreams.projects.baseUrl).to.equal('https://api7.platform.acme.example/v1');
    expect(upstreams.workflows.baseUrl).to.equal(MASK);
  });

  it('mask in a body what is named like a secret, at any depth, or looks like one', async () => {
    const body = '{ q: all, n: 7, filter: { api_key: open, auth: [{ user: open }], kinds: [open, "Bearer abc"] } }';
    const { resources } = await shown('', `resources: { tools: { method: POST, body: ${body} } }`);
    expect(resources.tools.body).to.deep.equal({
      ...{ q: 'all', n: 7 },
      filter: { api_key: MASK, auth: [{ user: MASK }], kinds: ['open', MASK] },
    });
  });

  it('show the format of a credential where nothing of it is secret', async () => {
    const open = ['{token}', 'Bearer {token}', 'ApiKey {token}'];
    const secret = ['ApiKey abc123 {token}', 'abc123{token}', '{token}:abc123', 'Bearer {token} abc123'];
    for (const format of [...open, ...secret]) {
      const { upstreams } = await shown(`credential: { kind: header, name: X-T, format: "${format}" }`);
      expect(upstreams.tools.credential.format, format).to.equal(open.includes(format) ? format : MASK);
    }
  });

  it('mask what may be secret in the body of a login', async () => {
    const body = '{ user: "{user}", password: "{secret}", api_key: abc, domain: acme }';
    const session = `kind: session, user: a, secret: hush, loginUrl: https://a.example, body: ${body}`;
    const { upstreams } = await shown(`credential: { ${session} }`, 'allowUnverifiedCallers: true');
    expect(upstreams.tools.credential.body).to.deep.equal({
      ...{ user: '{user}', password: '{secret}', api_key: MASK, domain: 'acme' },
    });
  });

  it("mask a secret of the deployment's own, and show where else it is and how it is sent", async () => {
    const client = 'client: { kind: client_secret_basic, id: portico, secret: hush }';
    const proxy = 'proxy: { url: http://a.example, user: a, password: hush }';
    for (const [credential, expected] of [
      ['kind: service, secret: hush, user: portico, name: X-T', { secret: MASK, user: 'portico', name: 'X-T' }],
      ['kind: service, file: /run/s', { file: '/run/s' }],
      [
        `kind: exchange, issuer: https://a.example, audience: b, ${client}, ${proxy}`,
        {
          ...{ audience: 'b', client: { kind: 'client_secret_basic', id: 'portico', secret: MASK } },
          proxy: { url: 'http://a.example', user: 'a', password: MASK },
        },
      ],
    ] as const) {
      const { upstreams } = await shown(`credential: { ${credential} }`, 'allowUnverifiedCallers: true');
      expect(upstreams.tools.credential).to.deep.include(expected);
    }
  });

  it('mask all that came from the environment', async () => {
    const { masked } = await load(
      `http:
  port: \${PORT}
  host: \${NOTHING:-}127.0.0.1
  allowedOrigins: ["https://\${HOST}", https://open.example]
resources:
  tools:
    path: /\${A}/tools
    items: \${A}
    query: { plain: x, given: "x\${A}", default: "\${B:-fallback}" }
    fields: { id: "\${A}", name: { from: title, values: { "1": "\${A}" } } }
${BASE}  tools:
    baseUrl: https://\${HOST}
    credential: { kind: header, name: "\${A}", format: "\${A} {token}" }
    headers: &headers { X-A: "\${A}" }
    timeoutMs: \${PORT}1
`,
      { A: 'covered', HOST: 'covered.example', PORT: '8123' },
    );
    const { http, upstreams, resources } = parse(masked());
    expect(http.port).to.equal(MASK);
    expect(http.allowedOrigins).to.deep.equal([MASK, 'https://open.example']);
    expect(upstreams.tools).to.include({ baseUrl: MASK, timeoutMs: MASK });
    expect(upstreams.tools.headers['X-A']).to.equal(MASK);
    expect(upstreams.tools.credential).to.deep.equal({ kind: 'header', name: MASK, format: MASK });
    expect(resources.tools).to.include({ path: MASK, items: MASK });
    expect(resources.tools.query).to.deep.equal({ plain: 'x', given: MASK, default: MASK });
    expect(resources.tools.fields.id).to.equal(MASK);
    expect(resources.tools.fields.name.values).to.deep.equal({ 1: MASK });
    expect(masked()).not.to.match(/covered|fallback|8123/);
  });

  it('never show a secret, whatever its text, and whether it comes by name or from the environment', async () => {
    const secret = fc.string({ unit: fc.constantFrom(...'abzAZ09-_.~+/= :#\'"{}[]&*!|>%@`,?\\') });
    await fc.assert(
      fc.asyncProperty(secret, async (text) => {
        const value = `S3cr3t${text}`;
        const { settings: config, masked } = await load(
          `resources:
  tools:
    query: { q: "\${SECRET}", my_credential: ${JSON.stringify(value.replaceAll(`\${`, () => `$\${`))} }
${BASE}  tools:
    baseUrl: https://a.example
    headers:
      X-A: \${SECRET}
      X-B: a \${NONE:-b} \${SECRET}
`,
          { SECRET: value },
        );
        expect(config.upstreams['tools']?.headers['X-A']).to.equal(value);
        expect(config.resources.tools.query).to.deep.equal({ q: value, my_credential: value });
        const shown = masked();
        expect(shown).not.to.contain('S3cr3t');
      }),
      { numRuns: 100 },
    );
  });
});
