import { expect } from 'chai';
import { ConfigError } from '../../../src/core/config/config-error.ts';
import { readDoc } from '../../support/docs.ts';
import { issuesIn, load, UPSTREAMS } from './settings-file.ts';

describe('issues in a settings file', () => {
  it('are all reported if they share a place', async () => {
    expect(
      await issuesIn(`http: { port: 70000.5 }
upstreams: { "a b": { baseUrl: 5, timeoutMs: 0.5 }, tools: { baseUrl: "x:y?z" } }
resources: { tools: { pagination: { kind: page, total: a, totalHeader: "b c" } } }
`),
    ).to.deep.equal([
      '1:15: http.port: must be a whole number',
      '1:15: http.port: must be at most 65535',
      '2:14: upstreams["a b"]: must begin with a letter and contain only letters, digits, _ and -',
      '2:14: upstreams["a b"]: is not the upstream of any resource',
      '2:32: upstreams["a b"].baseUrl: expected text, got a number',
      '2:46: upstreams["a b"].timeoutMs: must be a whole number',
      '2:46: upstreams["a b"].timeoutMs: must be at least 1',
      '2:71: upstreams.tools.baseUrl: must be an http or https URL',
      '2:71: upstreams.tools.baseUrl: must not contain user, password, query or fragment',
      '3:72: resources.tools.pagination.totalHeader: must be an HTTP header name',
    ]);
  });

  /** A file, to which upstreams are added where it has none, and what is wrong with it. */
  const wrong: Readonly<Record<string, string>> = {
    // Words that come close, by a letter more, less, other or swapped, or by case.
    'Upstreams: {}': '1:1: Upstreams: unknown key; did you mean upstreams?',
    'upsteams: {}': '1:1: upsteams: unknown key; did you mean upstreams?',
    'resource: {}': '1:1: resource: unknown key; did you mean resources?',
    'https: {}': '1:1: https: unknown key; did you mean http?',
    'chache: {}': '1:1: chache: unknown key; did you mean cache?',
    'http: { hsot: a }': '1:9: http.hsot: unknown key; did you mean host?',
    'http: { allowed-hosts: [a] }': '1:9: http.allowed-hosts: unknown key; did you mean allowedHosts?',
    'http: { KEEPALIVETIMEOUTMS: 1 }': '1:9: http.KEEPALIVETIMEOUTMS: unknown key; did you mean keepAliveTimeoutMs?',
    'http: { zzzzz: 1 }': '1:9: http.zzzzz: unknown key',
    'scheme: a\nhttp: { level: warn }': '2:9: http.level: unknown key',
    'http: { "a b\\n": 1 }': '1:9: http["a b\\n"]: unknown key',
    // Other types.
    'http:': '1:6: http: expected a block of keys, got nothing',
    'http: []': '1:1: http: expected a block of keys, got a list',
    'scheme: {}': '1:1: scheme: expected text, got a block of keys',
    'http: { allowedHosts: a }': '1:23: http.allowedHosts: expected a list, got text',
    'http: { allowedHosts: [a, 5] }': '1:27: http.allowedHosts[1]: expected text, got a number',
    'scheme: true': '1:9: scheme: expected text, got true or false',
    'admin: { enabled: yes }': '1:19: admin.enabled: expected true or false, got text',
    'resources: { tools: { maxItems: 5k } }': '1:33: resources.tools.maxItems: expected a whole number, got text',
    'upstreams: { tools: { baseUrl: http://a.example, headers: { X-A: } } }':
      '1:66: upstreams.tools.headers.X-A: must be text',
    'resources: { tools: { pagination: none } }':
      '1:35: resources.tools.pagination: expected a block of keys, got text',
    'upstreams: { tools: { baseUrl: http://a.example, credential: hush } }':
      '1:62: upstreams.tools.credential: expected a block of keys, got text',
    'upstreams: { tools: https://a.example }': '1:21: upstreams.tools: expected a block of keys, got text',
    'cache: false': '1:8: cache: expected a block of keys, got true or false',
    'resources: { tools: { fields: { id: 5 } } }':
      '1:37: resources.tools.fields.id: expected text or a block of keys, got a number',
    'resources: { tools: { fields: { id: { form: a } } } }':
      '1:39: resources.tools.fields.id.form: unknown key; did you mean from?',
    "resources: { tools: { fields: { id: { from: '' } } } }": '1:45: resources.tools.fields.id.from: must not be empty',
    // Kinds.
    'resources: { tools: { pagination: { size: 5 } } }':
      '1:23: resources.tools.pagination.kind: is required: one of none, token, offset, page, link',
    'resources: { tools: { pagination: { kind: lnk } } }':
      '1:43: resources.tools.pagination.kind: must be one of none, token, offset, page, link; did you mean link?',
    // YAML.
    'scheme: a\nscheme: 5': '2:1: scheme: is a duplicate key: first set on line 1',
    '? [a]\n: b': '1:3: a key must be plain text',
    'scheme: !!binary aGk=': '1:9: unknown tag: put text that begins with ! in quotes',
    'scheme: !env A': '1:9: unknown tag: put text that begins with ! in quotes',
    'http: { <<: {} }': '1:9: http["<<"]: is a merge key, which YAML 1.2 does not have: write the keys out',
    'resources: { tools: { method: POST, body: { a: [{ <<: {} }] } } }':
      '1:51: resources.tools.body.a[0]["<<"]: is a merge key, which YAML 1.2 does not have: write the keys out',
    'scheme: *a': '1:9: scheme: is an alias of nothing above',
    'http: &a { host: *a }': '1:18: http.host: is an alias of nothing above',
    'http:\n\tport: 1': '2:1: indent with spaces: YAML does not allow tabs',
    'upstreams:\n---\na: b': '2:1: a settings file is one document: remove the line ---',
    '# upstreams:\nscheme: "a': '2:11: a colon, comma, closing quote or closing bracket is missing',
    'a: !x !y b': '1:7: this is not YAML',
    'http: { allowedHosts: [${HOST}] }':
      '1:25: inside brackets, ${…} must be in quotes; a number, true or false needs a line of its own',
  };
  for (const [yaml, expected] of Object.entries(wrong)) {
    it(`name the mistake in ${JSON.stringify(yaml)}`, async () => {
      expect(await issuesIn(yaml.includes('upstreams:') ? yaml : yaml + UPSTREAMS)).to.deep.equal([expected]);
    });
  }

  it('name what a file without settings lacks', async () => {
    expect(await issuesIn('scheme: a')).to.deep.equal(['1:1: upstreams: is required']);
    expect(await issuesIn('hello')).to.deep.equal(['1:1: expected a block of keys, got text']);
    for (const yaml of ['', '# nothing\n']) {
      expect(await issuesIn(yaml)).to.deep.equal(['1:1: expected a block of keys, got nothing']);
    }
  });

  it('report the text of a file first, one issue a line', async () => {
    expect(await issuesIn('scheme: "a" b c\nhttp: { prot: 1 }\nlog: @x\n')).to.deep.equal([
      '1:13: not expected here: put text with special characters in quotes',
      '3:6: plain text cannot begin with this character: put it in quotes',
    ]);
  });

  it('show no value, since it may be secret', async () => {
    const secret = 'hunter2';
    const issues = await issuesIn(
      `scheme: ${secret} ${secret}\nhttp: { port: ${secret}, allowedHosts: [/${secret}] }\nlog: { level: ${secret} }
upstreams: { projects: { baseUrl: "x:${secret}", headers: { A: "${secret}é" }, credential: { kind: ${secret} } } }
resources: { projects: { upstream: ${secret}, path: ${secret} } }`,
    );
    expect(issues).to.have.length.greaterThan(8);
    expect(issues.join('\n')).not.to.contain(secret);
    for (const broken of [`"\\${secret}"`, `!${secret} b`, `${secret}: b`, `|${secret}`, `b\n${secret}\nc: d`]) {
      const told = await issuesIn(`a: ${broken}`);
      expect(told).not.to.deep.equal([]);
      expect(told.join('\n')).not.to.contain(secret);
    }
  });

  it("are in Portico's own words, not the validator’s", async () => {
    const issues = await issuesIn(
      'scheme: 1\nhttp: 1\nadmin: { port: a, enabled: 1 }\nlog: { level: 5 }\nupstreams: { "": {}, a: 1, b: { headers: { "a b": c } } }\n' +
        'resources: { tools: { query: { "": x }, maxItems: a, fields: 5, pagination: 7, where: "" } }',
    );
    expect(issues.join('\n')).not.to.match(/invalid|received|input|expected (string|int|object|record)/i);
  });

  it('are each on one line, without what a terminal obeys', () => {
    const error = new ConfigError([{ path: ['a'], message: 'has a\r\nb\u001b[31m', line: 1, column: 1 }], 'p\n.yaml');
    expect(error.message).to.equal('p .yaml:1:1: a: has a b [31m');
  });

  it('are those that docs/configuration.md shows for its sample', async () => {
    const pattern = /```yaml\n(http:[^`]*)```[^`]*```text\n([^`]*)```/;
    const [, yaml = '', reported = ''] = pattern.exec(readDoc('docs/configuration.md')) ?? [];
    const issues = await issuesIn(yaml);
    expect(reported.trim().split('\n')).to.deep.equal(issues.map((issue) => `portico.yaml:${issue}`));
    expect(issues).to.have.length.greaterThan(5);
  });

  it('are cut off after fifty', async () => {
    const issues = await issuesIn(Array.from({ length: 60 }, (_, index) => `k${index}: 1`).join('\n'));
    expect(issues).to.have.length(51);
    expect(issues.at(-1)).to.equal('and 11 more');
  });

  it('have hints as far as they are listed, so that 10,000 unknown keys take no longer than their file', async () => {
    const keys = Array.from({ length: 10_000 }, (_, index) => `upstream${index}: 1`);
    const error = await load(keys.join('\n')).catch((cause: ConfigError) => cause);
    const hinted = error instanceof ConfigError ? error.issues.filter(({ message }) => message.includes(';')) : [];
    expect(hinted).to.have.length(50);
  });

  it('are reported if blocks are nested too deeply', async () => {
    const [issue] = await issuesIn(`scheme: ${'['.repeat(20_000)}${']'.repeat(20_000)}\n${UPSTREAMS}`);
    expect(issue).to.match(/^1:\d+: nested too deeply$/);
  });

  it('include expressions, which are compiled while settings are read', async () => {
    const [issue] = await issuesIn(`resources: { tools: { items: "a[" } }\n${UPSTREAMS}`);
    expect(issue).to.match(/^1:30: resources\.tools\.items: is not a JMESPath expression/);
  });
});
