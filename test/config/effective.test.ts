import { expect } from 'chai';
import fc from 'fast-check';
import { parse } from 'yaml';
import { load, UPSTREAMS } from './settings-file.ts';

const BASE = 'upstreams:\n  projects: { baseUrl: https://a.example }\n  workflows: { baseUrl: https://a.example }\n';

describe('the effective settings', () => {
  it('read back as the settings that they show', async () => {
    const { config, masked } = await load(
      `scheme: a
http: { allowedOrigins: [https://a.example], socketPath: "a$\${b} # 'x\\"" }
allowUnverifiedCallers: true
resources:
  projects: { query: { q: 'true', r: 007, s: '' }, fields: { id: uuid, name: { values: { 'true': "yes" } } } }
  tools: { where: "a == \`1\`", pagination: { kind: page, sizeParam: null } }
${BASE}  tools: { baseUrl: https://a.example/x/, credential: { kind: none }, headers: { X-A: 1.0 } }
`,
    );
    expect((await load(masked())).config).to.deep.equal(config);
  });

  it('show every default', async () => {
    const { config, masked } = await load(UPSTREAMS);
    expect(parse(masked())).to.deep.equal(config);
    expect(masked())
      .to.contain('timeoutMs: 10000')
      .and.not.match(/[&*]a\d/);
  });

  it('mask headers and parameters that are named like a secret', async () => {
    const names = ['Authorization', 'Cookie', 'X-Api-Key', 'access_token', 'client-secret', 'PASSWORD', 'X-Credential'];
    const headers = names.map((name) => `${name}: open`).join(', ');
    const { masked } = await load(
      `resources: { tools: { query: { ${headers}, state: open } } }
${BASE}  tools: { baseUrl: https://a.example, credential: { kind: header, name: X-T }, headers: { ${headers}, Accept: open } }
`,
    );
    const { upstreams, resources } = parse(masked());
    for (const name of names) {
      expect(upstreams.tools.headers[name]).to.equal('[masked]');
      expect(resources.tools.query[name]).to.equal('[masked]');
    }
    expect(upstreams.tools.headers.Accept).to.equal('open');
    expect(resources.tools.query.state).to.equal('open');
  });

  it('mask what the environment put into text for upstreams, but show where they are', async () => {
    const { masked } = await load(
      `http:
  port: \${PORT}
resources:
  tools:
    path: /\${A}/tools
    query: { plain: x, given: "x\${A}", default: "\${B:-fallback}" }
${BASE}  tools:
    baseUrl: https://\${HOST}
    credential: { kind: header, name: X-T, format: "\${A} {token}" }
    headers: &headers { X-A: "\${A}" }
`,
      { A: 'hidden', HOST: 'tools.example', PORT: '81' },
    );
    const { http, upstreams, resources } = parse(masked());
    expect(http.port).to.equal(81);
    expect(upstreams.tools.baseUrl).to.equal('https://tools.example');
    expect(upstreams.tools.headers['X-A']).to.equal('[masked]');
    expect(upstreams.tools.credential).to.deep.equal({ kind: 'header', name: 'X-T', format: '[masked]' });
    expect(resources.tools.path).to.equal('[masked]');
    expect(resources.tools.query).to.deep.equal({ plain: 'x', given: '[masked]', default: '[masked]' });
    expect(masked()).not.to.match(/hidden|fallback/);
  });

  it('never show the token of portico stdio, and show that there is none', async () => {
    for (const [token, shown] of [
      ['"${T}"', '[masked]'],
      ['plain', '[masked]'],
      ['""', ''],
    ] as const) {
      const { masked } = await load(
        `mcp: { stdio: { token: ${token} } }\n${BASE}  tools: { baseUrl: https://a.example }\n`,
        { T: 'hidden' },
      );
      expect(parse(masked()).mcp.stdio.token).to.equal(shown);
      expect(masked()).not.to.match(/hidden|plain/);
    }
  });

  it('never show a secret, whatever its text, and whether it comes by name or from the environment', async () => {
    const secret = fc.string({ unit: fc.constantFrom(...'abzAZ09-_.~+/= :#\'"{}[]&*!|>%@`,?\\') });
    await fc.assert(
      fc.asyncProperty(secret, async (text) => {
        const value = `S3cr3t${text}`;
        const { config, masked } = await load(
          `resources:
  tools:
    query: { q: "\${SECRET}", api_key: ${JSON.stringify(value.replaceAll(`\${`, () => `$\${`))} }
${BASE}  tools:
    baseUrl: https://a.example
    headers:
      X-A: \${SECRET}
      X-B: a \${NONE:-b} \${SECRET}
`,
          { SECRET: value },
        );
        expect(config.upstreams['tools']?.headers['X-A']).to.equal(value);
        expect(config.resources.tools.query).to.deep.equal({ q: value, api_key: value });
        const shown = masked();
        expect(shown).not.to.contain('S3cr3t');
      }),
      { numRuns: 100 },
    );
  });
});
