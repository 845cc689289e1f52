import { globSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { loadSettings } from '../../src/composition.ts';
import { issueLine } from '../../src/core/config/config-error.ts';
import { load, UPSTREAMS } from '../core/config/settings-file.ts';
import { codeBlocks } from '../support/docs.ts';

/** The warnings of such settings, as `line:column: path: message`. */
async function warningsIn(yaml: string): Promise<string[]> {
  const { warnings } = await load(yaml);
  return warnings.map((warning) => issueLine(warning, 'f').replace('f:', ''));
}

/** The names that such settings of tools are warned of. */
async function warnedOf(settings: string): Promise<(string | undefined)[]> {
  const { warnings } = await load(`${UPSTREAMS}resources: { tools: { pagination: { kind: none }, ${settings} } }`);
  return warnings.map(({ message }) => /@\.(\w+) for the field$/.exec(message)?.[1]);
}

describe('the warnings of settings', () => {
  it('have their place, and are in the order of the file', async () => {
    const yaml = `upstreams: { tools: { baseUrl: https://a.example } }
resources:
  tools:
    where: type == tab || active == state.current || enabled == true || a == "it's"
    fields:
      category: other
      version:
        from: release || none
`;
    expect(await warningsIn(yaml)).to.deep.equal([
      '3:3: resources.tools: pagination is not set, so the default { kind: token } applies: set the pagination of this platform, or { kind: none } if lists are not paged',
      `4:12: resources.tools.where: ${[
        ['type == tab', 'tab', "type == 'tab'"],
        ['active == state.current', 'active', "'active' == state.current"],
        ['enabled == true', 'true', 'enabled == `true`'],
        ["a == it's", "it's", String.raw`a == 'it\'s'`],
      ]
        .map(
          ([written, name, quoted]) =>
            `${written} compares two fields, not a field with the value ${name}: write ${quoted} for the value, or @.${name} for the field`,
        )
        .join('; ')}`,
      `6:17: resources.tools.fields.category: other is a field name here, not the value other: write category: "'other'" for the value, or @.other for the field`,
      "8:15: resources.tools.fields.version.from: none is a field name here, not the value none: write 'none' for the value, or @.none for the field",
    ]);
  });

  it('name names of fields that are read as a calculation', async () => {
    const yaml = `${UPSTREAMS}resources:
  tools:
    pagination: { kind: token, next: meta.next-token }
    items: data/items
    fields: { id: tool-id, version: major - minor, category: '"tool-kind"', description: length(tags) - count }
`;
    const messages = (await warningsIn(yaml)).map((warning) => warning.replace(/^\d+:\d+: resources\.tools\./, ''));
    expect(messages).to.deep.equal([
      `pagination.next: meta.next-token subtracts two fields: write 'meta."next-token"', with all quotes, for the field of this name`,
      'items: data/items divides two fields: write data.items for a field of data',
      `fields.id: tool-id subtracts two fields: write '"tool-id"', with all quotes, for the field of this name`,
      `fields.version: major-minor subtracts two fields: write '"major-minor"', with all quotes, for the field of this name`,
    ]);
  });

  it('name the expressions and the missing pagination of parents and of joined lists, too', async () => {
    const yaml = `${UPSTREAMS}resources:
  workflows: { path: '/{parent.id}', each: { path: /p, where: kind == tab }, pagination: { kind: none } }
  tools: { lists: [{ path: /l, items: a/b, pagination: { kind: none } }, { path: /m, where: kind == tab }] }
`;
    expect(
      (await warningsIn(yaml)).map((warning) => warning.replace(/( is not set| compares| divides).*/, '$1')),
    ).to.deep.equal([
      '7:38: resources.workflows.each: pagination is not set',
      '7:63: resources.workflows.each.where: kind == tab compares',
      '8:39: resources.tools.lists[0].items: a/b divides',
      '8:74: resources.tools.lists[1]: pagination is not set',
      '8:93: resources.tools.lists[1].where: kind == tab compares',
    ]);
  });

  it('name a verified token that is forwarded', async () => {
    const yaml = `verification:
  issuer: https://login.example
  audience: https://portico.example/mcp
upstreams:
  projects: { baseUrl: https://a.example, credential: { kind: passthrough } }
  workflows: { baseUrl: https://a.example, credential: { kind: none } }
  tools: { baseUrl: https://a.example }
`;
    expect(await warningsIn(yaml)).to.deep.equal([
      "7:3: upstreams.tools: credential is not set, so the caller's token is forwarded to this platform, which MCP forbids a server that verifies it: set credential: { kind: passthrough } if this is intended",
    ]);
  });

  it('appear if pagination is not set, except with the default contract or for what is not offered', async () => {
    for (const key of ['path: /t', 'items: data', 'where: x', 'fields: { category: kind }']) {
      const [warning, ...others] = await warningsIn(`${UPSTREAMS}resources: { tools: { ${key} } }`);
      expect(warning, key).to.contain('pagination is not set');
      expect(others).to.deep.equal([]);
    }
    for (const resources of ['', 'cache: { ttlMs: 0 }, maxItems: 5', 'enabled: false, path: /t']) {
      expect(await warningsIn(`${UPSTREAMS}resources: { tools: { ${resources} } }`), resources).to.deep.equal([]);
    }
  });

  /** Settings of tools, with the name in them that is most likely a text, if any. */
  const texts: Readonly<Record<string, string | undefined>> = {
    'where: type == tab': 'tab',
    'where: type != tab': 'tab',
    'where: "type == \\"tab\\""': 'tab',
    'where: state.current == active': 'active',
    'where: a > b': undefined,
    'where: type == @.tab': undefined,
    "where: type == 'tab'": undefined,
    'where: installed.version == latest.version': undefined,
    'where: "contains(tags, installed)"': undefined,
    'where: enabled == true': 'true',
    "items: 'data[?kind == tool]'": 'tool',
    'fields: { category: other }': 'other',
    'fields: { category: Unknown }': 'Unknown',
    'fields: { category: SCANNER }': 'SCANNER',
    'fields: { category: type || SCAN_ENGINE }': 'SCAN_ENGINE',
    'fields: { name: title || untitled }': 'untitled',
    'fields: { category: "a && MANUAL" }': 'MANUAL',
    'fields: { category: "a ? MANUAL : b" }': 'MANUAL',
    'fields: { category: "a ? b : MANUAL" }': 'MANUAL',
    'fields: { category: "a && MANUAL || b" }': 'MANUAL',
    'where: active': undefined,
    "where: status != 'x' && !suspended_at": undefined,
    'fields: { category: type }': undefined,
    'fields: { category: "\'other\'" }': undefined,
    "fields: { category: release || 'none' }": undefined,
    'fields: { category: "@.unknown" }': undefined,
    'fields: { category: category }': undefined,
    'fields: { category: { from: manual, values: { "true": MANUAL } } }': undefined,
    'fields: { category: { from: active, values: { "true": ACTIVE } } }': undefined,
    'fields: { id: ID, name: TITLE, description: UUID }': undefined,
    'fields: { name: full_name, description: path, version: latest }': undefined,
    'fields: { description: about || summary }': undefined,
  };
  for (const [settings, name] of Object.entries(texts)) {
    it(`${name === undefined ? 'do not come' : 'come'} for ${settings}`, async () => {
      expect(await warnedOf(settings)).to.deep.equal(name === undefined ? [] : [name]);
    });
  }

  it('come for the expressions of a pagination, too', async () => {
    const pagination = '{ kind: token, next: "more == yes && cursor", total: "a == b" }';
    const yaml = `${UPSTREAMS}resources: { tools: { pagination: ${pagination} } }`;
    expect((await warningsIn(yaml)).map((line) => line.split(': ')[1])).to.deep.equal([
      ...['resources.tools.pagination.next', 'resources.tools.pagination.total'],
    ]);
  });

  it('name a negation that is applied before a dot', async () => {
    const of = async (where: string) =>
      (await load(`${UPSTREAMS}resources: { tools: { where: "${where}" } }`)).warnings;
    expect((await of('installed || !meta.archived')).map(({ message }) => message)).to.include(
      '!a.b is (!a).b, which is always null: write !(a.b)',
    );
    for (const where of ['!(meta.archived)', '!archived', '!tags[0]', '!contains(meta.tags, a)']) {
      expect((await of(where)).map(({ message }) => message).join(), where).to.not.contain('always null');
    }
  });

  for (const file of globSync('config/**/*.yaml').sort()) {
    it(`do not come for ${file}`, async () => {
      const names = [...readFileSync(file, 'utf8').matchAll(/\$\{(\w+)/g)].map(([, name = '']) => name);
      const valueFor = (name: string) => (name.endsWith('URL') ? 'https://platform.example' : 'x1');
      const environment = Object.fromEntries(names.map((name) => [name, name.endsWith('PORT') ? '' : valueFor(name)]));
      expect((await loadSettings(file, environment)).warnings).to.deep.equal([]);
    });
  }

  it('do not come for the settings that README shows', async () => {
    const [yaml = ''] = codeBlocks('README.md', 'yaml');
    expect(await warningsIn(yaml)).to.deep.equal([]);
  });
});

describe('the warnings of settings that are right each', () => {
  it('name a block that waits to be enabled, and not one that is switched off', async () => {
    const upstream = 'upstreams: { tools: { baseUrl: https://a.example } }\n';
    expect(await warningsIn(`${upstream}audit: {}\ntracing: { sampleRatio: 1 }`)).to.deep.equal([
      '2:1: audit: has no effect without enabled: true',
      '3:1: tracing: has no effect without enabled: true',
    ]);
    const off = 'audit: { enabled: false }\ntracing: { enabled: true, sampleRatio: 1 }';
    expect(await warningsIn(upstream + off)).to.deep.equal([]);
  });

  it('name an address without TLS, but not one in the own network', async () => {
    const at = (baseUrl: string) => warningsIn(`upstreams: { tools: { baseUrl: "${baseUrl}" } }`);
    const message = 'has no TLS, so tokens and lists can be read on the way: write https';
    expect(await at('http://api.acme.example')).to.deep.equal([`1:32: upstreams.tools.baseUrl: ${message}`]);
    for (const host of ['localhost', '127.0.0.1:80', '10.0.0.7', '[::1]', 'tools', 'tools.ns.svc', 'a.cluster.local']) {
      expect(await at(`http://${host}`), host).to.deep.equal([]);
    }
    expect(await at('https://api.acme.example')).to.deep.equal([]);
  });

  it('name a timeout that is most likely meant in seconds', async () => {
    const of = (timeoutMs: number) =>
      warningsIn(`upstreams: { tools: { baseUrl: https://a.example, timeoutMs: ${timeoutMs} } }`);
    const message = 'is in milliseconds: 30 s are 30000';
    expect(await of(30)).to.deep.equal([`1:62: upstreams.tools.timeoutMs: ${message}`]);
    expect(await of(100)).to.deep.equal([]);
    const others = 'shutdown: { graceMs: 30, delayMs: 0 }\nresources: { tools: { cache: { ttlMs: 30 } } }';
    expect(await warningsIn(`upstreams: { tools: { baseUrl: https://a.example } }\n${others}`)).to.deep.equal([
      `2:22: shutdown.graceMs: ${message}`,
      `3:39: resources.tools.cache.ttlMs: ${message}`,
    ]);
  });

  it('name a variable of the environment that is not replaced, or in quotes, and a key in a header', async () => {
    const warnedOf = (headers: string) =>
      warningsIn(`upstreams: { tools: { baseUrl: https://a.example, headers: { ${headers} } } }`);
    const at = '1:73: upstreams.tools.headers.X-Api-Key:';
    expect(await warnedOf('X-Api-Key: $API_KEY')).to.deep.equal([
      `${at} is used as it is written: a variable of the environment is "\${NAME}"`,
    ]);
    expect(await warnedOf('X-Api-Key: "${NONE:-\'abc\'}"')).to.deep.equal([
      `${at} is in quotes, which are sent, too: remove them (the value is from the environment)`,
    ]);
    expect((await warnedOf('X-Api-Key: abcdefgh12345678')).join()).to.contain(`${at} is written in the file`);
    expect(await warnedOf('X-Api-Key: "${NONE:-abc}", X-Tenant: abcdefgh12345678, X-Auth: ldap')).to.deep.equal([]);
  });

  it('name a public URL that is the address of MCP', async () => {
    const at = (path: string) =>
      warningsIn(`publicUrl: https://portico.example${path}\nupstreams: { tools: { baseUrl: https://a.example } }`);
    expect(await at('/mcp')).to.deep.equal(['1:12: publicUrl: ends with /mcp, so MCP is at /mcp/mcp: leave /mcp out']);
    for (const path of ['', '/portico', '/mcp/portico']) expect(await at(path), path).to.deep.equal([]);
  });

  it('name secrets that are written in the file', async () => {
    const service = (secret: string) =>
      `allowUnverifiedCallers: true\nupstreams: { tools: { baseUrl: https://a.example, credential: { kind: service, ${secret} } } }`;
    expect(await warningsIn(service('secret: abc'))).to.deep.equal([
      '2:88: upstreams.tools.credential.secret: is written in the file: take it from the environment, as "${NAME}", or from a file',
    ]);
    expect(await warningsIn(service('secret: "${S:-abc}"'))).to.deep.equal([]);
    expect(await warningsIn(service('file: /a, format: "GenieKey {token}"'))).to.deep.equal([]);
    const login = (body: string) =>
      service(`user: a, secret: "\${S:-b}", loginUrl: https://a.example, body: ${body}`).replace('service', 'session');
    expect(await warningsIn(login('{ name: "{user}", password: "{secret}" }'))).to.deep.equal([]);
    expect((await warningsIn(login('{ password: abc }'))).join()).to.contain('credential.body.password: is written');
    expect((await warningsIn(login('{ app: { key: abc } }'))).join()).to.contain('body.app.key: is written');
    const introspection = 'introspection: { clientId: a, secret: b }';
    const verified = `verification: { issuer: https://login.example, audience: a, ${introspection} }`;
    const proxy = 'proxy: { url: http://a.example, user: a, password: b }';
    const upstream = `upstreams: { tools: { baseUrl: https://a.example, credential: { kind: passthrough }, ${proxy} } }`;
    expect((await warningsIn(`${verified}\n${upstream}`)).map((line) => line.split(': ')[1])).to.deep.equal([
      ...['verification.introspection.secret', 'upstreams.tools.proxy.password'],
    ]);
  });

  it('name a listener that answers for any Host, where callers are verified', async () => {
    const verified = 'verification: { issuer: https://login.example, audience: a }';
    const at = (http: string, rest = '') =>
      `upstreams: { tools: { baseUrl: https://a.example, credential: { kind: passthrough } } }\n${verified}\nhttp: { ${http} }\n${rest}`;
    const message = 'any Host is accepted, which allows DNS rebinding: set http.allowedHosts or publicUrl';
    expect(await warningsIn(at('host: 0.0.0.0'))).to.deep.equal([`3:15: http.host: ${message}`]);
    for (const [http, rest] of [
      ['host: 0.0.0.0, allowedHosts: [a]'],
      ['host: 0.0.0.0', 'publicUrl: https://portico.example'],
      ['host: localhost'],
      ['socketPath: /a'],
    ] as const) {
      expect(await warningsIn(at(http, rest)), http).to.deep.equal([]);
    }
  });
});
