import { expect } from 'chai';
import { ConfigError } from '../../../src/core/config/config-error.ts';
import { readDoc } from '../../support/docs.ts';
import { issuesIn, UPSTREAMS } from './settings-file.ts';

describe('issues in a settings file', () => {
  it('are reported once for each setting, before settings are compared with each other', async () => {
    expect(
      await issuesIn(`http: { port: 70000.5 }
upstreams: { "a b": { baseUrl: 5, timeoutMs: 0.5 }, tools: { baseUrl: "x:y?z" } }
resources: { tools: { pagination: { kind: page, total: a, totalHeader: "b c" } } }
`),
    ).to.deep.equal([
      '1:15: http.port: must be a whole number',
      '2:14: upstreams["a b"]: must begin with a letter and contain only letters, digits, _ and -',
      '2:71: upstreams.tools.baseUrl: must be an http or https URL',
      '3:72: resources.tools.pagination.totalHeader: must be an HTTP header name',
    ]);
  });

  /** A file, to which upstreams are added where it has none, and what is wrong with it. */
  const wrong: Readonly<Record<string, string>> = {
    // Words that come close, by a letter more, less, other or swapped, or by case.
    'upsteams: {}': '1:1: upsteams: Unrecognized key; did you mean upstreams?',
    'http: { hsot: a }': '1:9: http.hsot: Unrecognized key; did you mean host?',
    'http: { allowed-hosts: [a] }': '1:9: http.allowed-hosts: Unrecognized key; did you mean allowedHosts?',
    'http: { KEEPALIVETIMEOUTMS: 1 }':
      '1:9: http.KEEPALIVETIMEOUTMS: Unrecognized key; did you mean keepAliveTimeoutMs?',
    // Others.
    'scheme: a\nadmin: { zzzzz: 1 }':
      '2:10: admin.zzzzz: Unrecognized key; known are enabled, host, port, allowedHosts, tls',
    'upstreams: { tools: { baseUrl: https://a.example, credential: { kind: passthrough, name: X-Key } } }':
      '1:84: upstreams.tools.credential.name: Unrecognized key; known are kind',
    'log: { "a b\\n": 1 }': '1:8: log["a b\\n"]: Unrecognized key; known are level, format',
    // Other types.
    'http:': '1:6: http: must be a block of keys, each as "key: value"',
    'upstreams: { tools: https://a.example }': '1:21: upstreams.tools: must be a block of keys, each as "key: value"',
    'http: { allowedHosts: a }': '1:23: http.allowedHosts: must be a list, such as [a, b]',
    'http: { allowedHosts: [a, 5] }': '1:27: http.allowedHosts[1]: must be text: put it in quotes',
    'admin: { enabled: yes }': '1:19: admin.enabled: must be true or false, without quotes',
    'resources: { tools: { maxItems: 5k } }':
      '1:33: resources.tools.maxItems: must be a number, without quotes and unit',
    'upstreams: { tools: { baseUrl: http://a.example, headers: { X-A: } } }':
      '1:66: upstreams.tools.headers.X-A: must be text',
    'resources: { tools: { fields: { id: 5 } } }': '1:37: resources.tools.fields.id: must be an expression or a block',
    "resources: { tools: { fields: { id: { from: '' } } } }":
      '1:45: resources.tools.fields.id.from: Too small: expected string to have >=1 characters',
    // Kinds.
    'resources: { tools: { pagination: { size: 5 } } }':
      '1:23: resources.tools.pagination.kind: must be one of none, token, offset, page, link',
    // YAML.
    'scheme: a\nscheme: 5': '2:1: scheme: Duplicate key',
    '? [a]\n: b': '1:3: With stringKeys, all keys must be strings',
    'scheme: !env A': '1:9: Unresolved tag',
    'http: { <<: {} }': '1:9: http["<<"]: Merge keys are not part of YAML 1.2: write the keys out',
    'scheme: *a': '1:9: scheme: Unresolved alias: its anchor must be set above',
    'http: &a { host: *a }': '1:18: http.host: Unresolved alias: its anchor must be set above',
    'http: { host: a {b} }\nlog:\n  level: info':
      '1:17: Unexpected flow-map-start at node end: a text with a sign of YAML, such as { or ", must be in quotes as a whole',
    'scheme: a\n  log: b':
      '1:9: Nested mappings are not allowed in compact mappings: the line below is indented too far, or a text with a colon is not in quotes',
    'http:\n\tport: 1': '2:1: Tabs are not allowed as indentation',
    'http: { allowedHosts: [${HOST}] }':
      '1:25: Missing , or : between flow sequence items: inside brackets, ${…} must be in quotes',
  };
  for (const [yaml, expected] of Object.entries(wrong)) {
    it(`name the mistake in ${JSON.stringify(yaml)}`, async () => {
      expect(await issuesIn(yaml.includes('upstreams:') ? yaml : yaml + UPSTREAMS)).to.deep.equal([expected]);
    });
  }

  it('name what a file without settings lacks', async () => {
    expect(await issuesIn('scheme: a')).to.deep.equal(['1:1: upstreams: is required']);
    for (const yaml of ['hello', '', '# nothing\n']) {
      expect(await issuesIn(yaml)).to.deep.equal(['1:1: must be a block of keys, each as "key: value"']);
    }
  });

  it('report the text of a file first, one issue a line', async () => {
    expect(await issuesIn('scheme: "a" b c\nhttp: { prot: 1 }\nlog: @x\n')).to.deep.equal([
      '1:13: Unexpected scalar at node end: a text with a sign of YAML, such as { or ", must be in quotes as a whole',
      '3:6: Plain value cannot start with reserved character @: put the value in quotes',
    ]);
  });

  it('show no value, since it may be secret', async () => {
    const secret = 'hunter2';
    const issues = await issuesIn(
      `scheme: ${secret} ${secret}\nhttp: { port: ${secret}, allowedHosts: [/${secret}] }\nlog: { level: ${secret} }
upstreams: { projects: { baseUrl: "x:${secret}", headers: { A: "${secret}é" }, credential: { kind: ${secret} } } }
resources: { projects: { upstream: ${secret}, path: ${secret} } }`,
    );
    expect(issues).to.have.length.greaterThan(7);
    expect(issues.join('\n')).not.to.contain(secret);
    for (const broken of [
      `"\\${secret}"`,
      `!${secret} b`,
      `${secret}: b`,
      `|${secret}`,
      `b\n${secret}\nc: d`,
      `]\n${secret}`,
      `| ${secret}`,
    ]) {
      const told = await issuesIn(`a: ${broken}`);
      expect(told).not.to.deep.equal([]);
      expect(told.join('\n')).not.to.contain(secret);
    }
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

  it('include expressions, which are compiled while settings are read', async () => {
    const [issue] = await issuesIn(`resources: { tools: { items: "a[" } }\n${UPSTREAMS}`);
    expect(issue).to.match(/^1:30: resources\.tools\.items: is not a JMESPath expression/);
  });
});
