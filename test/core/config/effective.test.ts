import { expect } from 'chai';
import fc from 'fast-check';
import { parse } from 'yaml';
import { load, UPSTREAMS } from './settings-file.ts';

const BASE = 'upstreams:\n  projects: { baseUrl: https://a.example }\n  workflows: { baseUrl: https://a.example }\n';

const MASK = '[masked]';

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

  it("mask Portico's own secret at the issuer of tokens", async () => {
    const introspection = 'introspection: { clientId: portico, secret: hush }';
    const { masked } = await load(
      `verification: { issuer: https://login.example, audience: a, ${introspection} }\n${UPSTREAMS}`,
    );
    expect(parse(masked()).verification.introspection).to.include({ clientId: 'portico', secret: MASK });
  });

  it('mask all that the collector of traces is sent', async () => {
    const tracing = 'tracing: { endpoint: https://traces.example/v1/traces, headers: { X-Team: open, Number: 1 } }';
    const { masked } = await load(`${tracing}\n${UPSTREAMS}`);
    expect(parse(masked()).tracing.headers).to.deep.equal({ 'X-Team': MASK, Number: MASK });
    expect(parse(masked()).tracing.endpoint).to.equal('https://traces.example/v1/traces');
  });

  it('mask headers and parameters that are named like a secret', async () => {
    const names = ['Authorization', 'Cookie', 'X-Api-Key', 'access_token', 'client-secret', 'PASSWORD', 'X-Credential'];
    const headers = names.map((name) => `${name}: open`).join(', ');
    // Nobody may write plain names of credentials here, but some that speak of one.
    const written = '{ X-Credential: open, sessionState: open, state: open }';
    const { masked } = await load(
      `resources: { tools: { query: ${written}, headers: { X-Session-Id: open, Accept: open } } }
${BASE}  tools: { baseUrl: https://a.example, credential: { kind: header, name: X-T }, headers: { ${headers}, Accept: open } }
`,
    );
    const { upstreams, resources } = parse(masked());
    for (const name of names) {
      expect(upstreams.tools.headers[name]).to.equal(MASK);
    }
    expect(resources.tools.query).to.deep.equal({ 'X-Credential': MASK, sessionState: MASK, state: 'open' });
    expect(resources.tools.headers).to.deep.equal({ 'X-Session-Id': MASK, Accept: 'open' });
    expect(upstreams.tools.headers.Accept).to.equal('open');
  });

  it('mask the password of a proxy, and nothing else of it', async () => {
    const proxy = 'proxy: { url: http://proxy.example:3128, user: portico, password: open }';
    const { masked } = await load(`${BASE}  tools: { baseUrl: https://a.example, ${proxy} }\n`);
    expect(parse(masked()).upstreams.tools.proxy).to.deep.equal({
      url: 'http://proxy.example:3128',
      user: 'portico',
      password: MASK,
    });
  });

  it('mask values that look like a secret, whatever their name', async () => {
    const secret = [
      'Bearer abc',
      'basic YTpi',
      'ApiKey x',
      'a1b2c3d4-e5f6-4711-8899-aabbccddeeff',
      'x sk_live_4eC39HqLyjWDarjtT1',
      'aws4/key7/eu-west/signing-part',
      'T0451.Kx81jf02.q93jf1',
      'user7:pass-word-of-it',
    ];
    const open = ['application/json', 'true', '2026-01-01', 'platform.example/projects/all-of-them', 'bearer'];
    const values = [...secret, ...open];
    const block = `{ ${values.map((value, index) => `n${index}: ${JSON.stringify(value)}`).join(', ')} }`;
    const { masked } = await load(
      `resources: { tools: { query: ${block} }, projects: { query: { n: ${JSON.stringify(values)} } } }
${BASE}  tools: { baseUrl: https://a.example }\n`,
    );
    const { resources } = parse(masked());
    for (const shown of [resources.tools.query, resources.projects.query.n]) {
      expect(Object.values(shown)).to.deep.equal([...secret.map(() => MASK), ...open]);
    }
  });

  it('mask every header except those of content negotiation', async () => {
    const secrets = { 'X-A': 'abc/de1.f:2', 'X-Team': 'blue', 'X-Plan': '7' };
    const open = { Accept: 'application/json', 'User-Agent': 'portico (acme)', 'X-GitHub-Api-Version': '2022-11-28' };
    const block = JSON.stringify({ ...secrets, ...open });
    const { masked } = await load(
      `resources: { tools: { headers: ${block} } }\n${BASE}  tools: { baseUrl: https://a.example, headers: ${block} }\n`,
    );
    const { upstreams, resources } = parse(masked());
    for (const { headers } of [upstreams.tools, resources.tools]) {
      expect(headers).to.deep.equal({ 'X-A': MASK, 'X-Team': MASK, 'X-Plan': MASK, ...open });
    }
  });

  it('mask an address with a segment that looks like a key, and no other', async () => {
    const { masked } = await load(
      `resources:
  projects: { path: /hooks/T0451/B77/q93jf1Kx81jf02aa/list }
  workflows: { path: '/t/{key}/v2/workflows', pathParams: { key: user7:pass-word-of-it } }
  tools: { path: /v2/organizations-of-acme/tools }
upstreams:
  projects: { baseUrl: https://api7.platform.acme.example/v1 }
  workflows: { baseUrl: https://a.example/q93jf1Kx81jf02aa }
  tools: { baseUrl: https://a.example }
`,
    );
    const { upstreams, resources } = parse(masked());
    expect(resources.projects.path).to.equal(MASK);
    expect(resources.workflows).to.deep.include({ path: '/t/{key}/v2/workflows', pathParams: { key: MASK } });
    expect(resources.tools.path).to.equal('/v2/organizations-of-acme/tools');
    expect(upstreams.projects.baseUrl).to.equal('https://api7.platform.acme.example/v1');
    expect(upstreams.workflows.baseUrl).to.equal(MASK);
  });

  it('mask in a body what is named like a secret, at any depth, or looks like one', async () => {
    const { masked, config } = await load(
      `resources:
  tools:
    method: POST
    body: { q: all, n: 7, filter: { api_key: open, auth: [{ user: open }], kinds: [open, "Bearer abc"] } }
${BASE}  tools: { baseUrl: https://a.example }
`,
    );
    expect(config.resources.tools.body).to.have.nested.property('filter.api_key', 'open');
    expect(parse(masked()).resources.tools.body).to.deep.equal({
      q: 'all',
      n: 7,
      filter: { api_key: MASK, auth: [{ user: MASK }], kinds: ['open', MASK] },
    });
  });

  for (const [format, shown] of [
    ['{token}', '{token}'],
    ['Bearer {token}', 'Bearer {token}'],
    ['ApiKey {token}', 'ApiKey {token}'],
    ['ApiKey abc123 {token}', '[masked]'],
    ['abc123{token}', '[masked]'],
    ['{token}:abc123', '[masked]'],
    ['Bearer {token} abc123', '[masked]'],
  ] as const) {
    it(`show the credential format ${format} as ${shown}`, async () => {
      const { masked } = await load(
        `${BASE}  tools: { baseUrl: https://a.example, credential: { kind: header, name: X-T, format: "${format}" } }\n`,
      );
      expect(parse(masked()).upstreams.tools.credential.format).to.equal(shown);
    });
  }

  it("mask a secret of the deployment's own, and show where else it is and how it is sent", async () => {
    const { masked } = await load(
      `allowUnverifiedCallers: true
${BASE}  tools: { baseUrl: https://a.example, credential: { kind: service, secret: hush, user: portico, name: X-T } }\n`,
    );
    const { credential } = parse(masked()).upstreams.tools;
    expect(credential).to.deep.equal({ kind: 'service', secret: MASK, user: 'portico', name: 'X-T' });
    const { masked: ofFile } = await load(
      `allowUnverifiedCallers: true\n${BASE}  tools: { baseUrl: https://a.example, credential: { kind: service, file: /run/s } }\n`,
    );
    expect(parse(ofFile()).upstreams.tools.credential).to.deep.equal({ kind: 'service', file: '/run/s' });
  });

  it('mask the secret of Portico as a client, and show the client', async () => {
    const client = '{ kind: client_secret_basic, id: portico, secret: hush }';
    const exchange = `{ kind: exchange, issuer: https://a.example, audience: b, client: ${client} }`;
    const { masked } = await load(`${BASE}  tools: { baseUrl: https://a.example, credential: ${exchange} }\n`);
    const { credential } = parse(masked()).upstreams.tools;
    expect(credential).to.include({ kind: 'exchange', issuer: 'https://a.example', audience: 'b' });
    expect(credential.client).to.deep.equal({ kind: 'client_secret_basic', id: 'portico', secret: MASK });
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
    const mask = '[masked]';
    const { http, upstreams, resources } = parse(masked());
    expect(http.port).to.equal(mask);
    expect(http.allowedOrigins).to.deep.equal([mask, 'https://open.example']);
    expect(upstreams.tools).to.include({ baseUrl: mask, timeoutMs: mask });
    expect(upstreams.tools.headers['X-A']).to.equal(mask);
    expect(upstreams.tools.credential).to.deep.equal({ kind: 'header', name: mask, format: mask });
    expect(resources.tools).to.include({ path: mask, items: mask });
    expect(resources.tools.query).to.deep.equal({ plain: 'x', given: mask, default: mask });
    expect(resources.tools.fields.id).to.equal(mask);
    expect(resources.tools.fields.name.values).to.deep.equal({ 1: mask });
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
