import { expect } from 'chai';
import { ConfigError } from '../../../src/core/config/config-error.ts';
import { issuesIn, load, UPSTREAMS } from './settings-file.ts';

describe('issues in a settings file', () => {
  it('are reported all at once, in the order of the file', async () => {
    expect(
      await issuesIn(`resources:
  projects: { upstream: nowhere, invalidItems: dorp }
http:
  keepAliveTimeoutMs: 1.5
  maxUrlBytes: 4096
  maxHeaderBytes: 1
upstreams:
  projects: { baseUrl: ftp://a.example }
  workflows: {}
  tools: { baseUrl: https://a.example, credential: { kind: none } }
`),
    ).to.deep.equal([
      '2:25: resources.projects.upstream: must be a key of upstreams: there are projects, workflows, tools',
      '2:48: resources.projects.invalidItems: must be one of fail, drop; did you mean drop?',
      '4:23: http.keepAliveTimeoutMs: must be a whole number',
      '5:3: http.maxUrlBytes: is no longer a setting: 8192 always holds (docs/limits.md)',
      '6:19: http.maxHeaderBytes: must be at least 1024',
      '8:24: upstreams.projects.baseUrl: must be an http or https URL',
      '9:3: upstreams.workflows.baseUrl: is required',
      '10:60: upstreams.tools.credential.kind: none accepts every caller, and callers are not verified: set verification, or allowUnverifiedCallers: true if this is intended',
    ]);
  });

  it('are all reported if they share a place', async () => {
    expect(
      await issuesIn(`http: { port: 70000.5 }
upstreams: { "a b": { baseUrl: 5, timeoutMs: 0.5 }, tools: { baseUrl: "x:y?z" } }
resources: { tools: { pagination: { kind: page, total: a, totalHeader: "b c" } } }
`),
    ).to.deep.equal([
      '1:15: http.port: must be a whole number',
      '1:15: http.port: must be at most 65535',
      '2:14: upstreams["a b"]: must begin with a letter and hold letters, digits, _ and - only',
      '2:14: upstreams["a b"]: is the upstream of no resource',
      '2:32: upstreams["a b"].baseUrl: expected text, got a number; put it in quotes',
      '2:46: upstreams["a b"].timeoutMs: must be a whole number',
      '2:46: upstreams["a b"].timeoutMs: must be at least 1',
      '2:71: upstreams.tools.baseUrl: must be an http or https URL',
      '2:71: upstreams.tools.baseUrl: must hold no user, password, query or fragment',
      '3:72: resources.tools.pagination.totalHeader: must be an HTTP header name',
      '3:72: resources.tools.pagination.totalHeader: says what total says too: take one of them out',
    ]);
  });

  for (const [typed, meant] of [
    ['upstream', 'upstreams'],
    ['Upstreams', 'upstreams'],
    ['upsteams', 'upstreams'],
    ['resource', 'resources'],
    ['loggin', 'log'],
    ['https', 'http'],
    ['chache', 'cache'],
    ['shema', 'scheme'],
    ['admn', 'admin'],
  ]) {
    it(`name the neighbour of ${typed} at the top level`, async () => {
      expect(await issuesIn(`${typed}: {}${UPSTREAMS}`)).to.deep.equal([
        `1:1: ${typed}: unknown key; did you mean ${meant}?`,
      ]);
    });
  }

  const wrong: [string, string, string][] = [
    ['a missing block', 'scheme: a', '1:1: upstreams: is required'],
    ['a file of remarks', '# nothing\n', '1:1: there are no settings yet: docs/onboarding.md begins with upstreams'],
    ['a file with text', 'hello', '1:1: expected a block of keys, got text; it needs upstreams'],
    ['an empty block', `http:\n${UPSTREAMS}`, '1:6: http: expected a block of keys, got nothing'],
    ['a list for a block', `http: []\n${UPSTREAMS}`, '1:1: http: expected a block of keys, got a list'],
    ['a block for text', `scheme: {}\n${UPSTREAMS}`, '1:1: scheme: expected text, got a block of keys'],
    [
      'text for a list',
      `http: { allowedHosts: a }\n${UPSTREAMS}`,
      '1:23: http.allowedHosts: expected a list, got text',
    ],
    [
      'an element of a list',
      `http: { allowedHosts: [a, 5] }\n${UPSTREAMS}`,
      '1:27: http.allowedHosts[1]: expected text, got a number; put it in quotes',
    ],
    ['an empty list', `http: { allowedHosts: [] }\n${UPSTREAMS}`, '1:9: http.allowedHosts: must not be empty'],
    [
      'infinity',
      `http: { port: .inf }\n${UPSTREAMS}`,
      '1:15: http.port: expected a whole number, got a number without end',
    ],
    ['a large number', `http: { port: 65536 }\n${UPSTREAMS}`, '1:15: http.port: must be at most 65535'],
    [
      'a boolean in quotes',
      `admin: { enabled: "true" }\n${UPSTREAMS}`,
      '1:19: admin.enabled: expected true or false, got text; take its quotes off',
    ],
    [
      'a boolean for text',
      `scheme: true\n${UPSTREAMS}`,
      '1:9: scheme: expected text, got true or false; put it in quotes',
    ],
    [
      'a word for a boolean',
      `admin: { enabled: yes }\n${UPSTREAMS}`,
      '1:19: admin.enabled: expected true or false, got text; write true',
    ],
    [
      'another word for a boolean',
      `admin: { enabled: Off }\n${UPSTREAMS}`,
      '1:19: admin.enabled: expected true or false, got text; write false',
    ],
    [
      'any other text for a boolean',
      `admin: { enabled: maybe }\n${UPSTREAMS}`,
      '1:19: admin.enabled: expected true or false, got text',
    ],
    [
      'a time with a unit',
      `http: { keepAliveTimeoutMs: 1.5 min }\n${UPSTREAMS}`,
      '1:29: http.keepAliveTimeoutMs: expected a whole number, got text; write it in milliseconds, without a unit',
    ],
    [
      'a size with a unit',
      `cache: { maxBytes: 128MiB }\n${UPSTREAMS}`,
      '1:20: cache.maxBytes: expected a whole number, got text; write it in bytes, without a unit',
    ],
    [
      'a unit where a number has none',
      `resources: { tools: { maxItems: 5k } }\n${UPSTREAMS}`,
      '1:33: resources.tools.maxItems: expected a whole number, got text',
    ],
    [
      'a kind in place of its block',
      `resources: { tools: { pagination: none } }\n${UPSTREAMS}`,
      '1:35: resources.tools.pagination: expected a block of keys, got text; did you mean { kind: none }?',
    ],
    [
      'what others call a kind in place of its block',
      `resources: { tools: { pagination: cursor } }\n${UPSTREAMS}`,
      '1:35: resources.tools.pagination: expected a block of keys, got text; did you mean { kind: token }?',
    ],
    [
      'any other text in place of a block that has kinds',
      'upstreams: { tools: { baseUrl: http://a.example, credential: hush } }',
      '1:62: upstreams.tools.credential: expected a block of keys, got text; it needs kind',
    ],
    [
      'a text in place of a block',
      'upstreams: { tools: https://a.example }',
      '1:21: upstreams.tools: expected a block of keys, got text; it needs baseUrl',
    ],
    [
      'a boolean in place of a block that can be switched off',
      `mcp: false\n${UPSTREAMS}`,
      '1:6: mcp: expected a block of keys, got true or false; write { enabled: false }',
    ],
    [
      'a boolean in place of another block',
      `cache: false\n${UPSTREAMS}`,
      '1:8: cache: expected a block of keys, got true or false',
    ],
    [
      'what others call a kind of paging',
      `resources: { tools: { pagination: { kind: Cursor } } }\n${UPSTREAMS}`,
      '1:43: resources.tools.pagination.kind: must be one of none, token, offset, page, link; did you mean token?',
    ],
    [
      'what others call a kind of credential',
      'upstreams: { tools: { baseUrl: http://a.example, credential: { kind: apiKey, name: X-Api-Key } } }',
      '1:70: upstreams.tools.credential.kind: must be one of passthrough, header, exchange, service, none; did you mean header?',
    ],
    [
      'a URL without a scheme',
      'upstreams: { tools: { baseUrl: api.example.com/v1 } }',
      '1:32: upstreams.tools.baseUrl: must be an http or https URL; put https:// before it',
    ],
    [
      'a variable as shells write it',
      'upstreams: { tools: { baseUrl: $TOOLS_URL } }',
      '1:32: upstreams.tools.baseUrl: must be an http or https URL; a variable of the environment is written ${NAME}',
    ],
    [
      'an address in brackets',
      `http: { host: "[::1]" }\n${UPSTREAMS}`,
      '1:15: http.host: must be an IP address or a host name, without port and brackets',
    ],
    ['an empty file', '', '1:1: there are no settings yet: docs/onboarding.md begins with upstreams'],
    [
      'a number for a field',
      `resources: { tools: { fields: { id: 5 } } }\n${UPSTREAMS}`,
      '1:37: resources.tools.fields.id: expected text or a block of keys, got a number',
    ],
    [
      'an unknown key in the block of a field',
      `resources: { tools: { fields: { id: { form: a } } } }\n${UPSTREAMS}`,
      '1:39: resources.tools.fields.id.form: unknown key; did you mean from?',
    ],
    [
      'a bad expression',
      `resources: { tools: { fields: { id: { from: '' } } } }\n${UPSTREAMS}`,
      '1:45: resources.tools.fields.id.from: must not be empty',
    ],
    [
      'a kind that is missing',
      `resources: { tools: { pagination: { size: 5 } } }\n${UPSTREAMS}`,
      '1:23: resources.tools.pagination.kind: is required: one of none, token, offset, page, link',
    ],
    [
      'a kind that is misspelt',
      `resources: { tools: { pagination: { kind: lnk } } }\n${UPSTREAMS}`,
      '1:43: resources.tools.pagination.kind: must be one of none, token, offset, page, link; did you mean link?',
    ],
    [
      'a key of another kind',
      `resources: { tools: { pagination: { kind: page, offsetParam: a } } }\n${UPSTREAMS}`,
      '1:49: resources.tools.pagination.offsetParam: unknown key; it belongs under resources.<name>.pagination of kind offset',
    ],
    [
      'a key of another block',
      `scheme: a\nhttp: { level: warn }\n${UPSTREAMS}`,
      '2:9: http.level: unknown key; it belongs under log',
    ],
    [
      'a key of the top level',
      `http: { scheme: warn }\n${UPSTREAMS}`,
      '1:9: http.scheme: unknown key; it belongs at the top level',
    ],
    ['a key that is like no other', `http: { zzzzz: 1 }\n${UPSTREAMS}`, '1:9: http.zzzzz: unknown key'],
    ['a key that needs quotes to be shown', `http: { "a b\\n": 1 }\n${UPSTREAMS}`, '1:9: http["a b\\n"]: unknown key'],
    [
      'a key that is there twice',
      `scheme: a\nscheme: 5\n${UPSTREAMS}`,
      '2:1: scheme: is a duplicate key: first set on line 1',
    ],
    ['a key that is more than text', `? [a]\n: b\n${UPSTREAMS}`, '1:3: a key must be plain text'],
    [
      'a tag of YAML 1.1',
      `scheme: !!binary aGk=\n${UPSTREAMS}`,
      '1:9: unknown tag: put text that begins with ! in quotes',
    ],
    ['a key of many blocks', `log: { kind: a }\n${UPSTREAMS}`, '1:8: log.kind: unknown key'],
    [
      'a key of two blocks',
      `log: { host: a }\n${UPSTREAMS}`,
      '1:8: log.host: unknown key; it belongs under http or under admin',
    ],
    [
      'a merge key',
      `http: { <<: {} }\n${UPSTREAMS}`,
      '1:9: http["<<"]: is a merge key, which YAML 1.2 does not have: write the keys out',
    ],
    [
      'a merge key in a body',
      `resources: { tools: { method: POST, body: { a: [{ <<: {} }] } } }\n${UPSTREAMS}`,
      '1:51: resources.tools.body.a[0]["<<"]: is a merge key, which YAML 1.2 does not have: write the keys out',
    ],
    [
      'a key of prototypes',
      `resources: { tools: { query: { __proto__: a } } }\n${UPSTREAMS}`,
      '1:32: resources.tools.query.__proto__: is a key that no settings have',
    ],
    [
      'a block for a query value',
      `resources: { tools: { query: { a: {} } } }\n${UPSTREAMS}`,
      '1:32: resources.tools.query.a: must be text',
    ],
    [
      'nothing for a header',
      `upstreams: { a: { baseUrl: http://a.example, headers: { X-A: } } }\nresources: { projects: { upstream: a }, workflows: { upstream: a }, tools: { upstream: a } }`,
      '1:62: upstreams.a.headers.X-A: must be text',
    ],
    ['an alias of nothing', `scheme: *a\n${UPSTREAMS}`, '1:9: scheme: is an alias of nothing above'],
    [
      'an alias of the block that it stands in',
      `http: &a { host: *a }\n${UPSTREAMS}`,
      '1:18: http.host: is an alias of nothing above',
    ],
    ['an unknown tag', `scheme: !env A\n${UPSTREAMS}`, '1:9: unknown tag: put text that begins with ! in quotes'],
    ['a tab', 'http:\n\tport: 1', '2:1: indent with spaces: YAML takes no tabs'],
    ['a second document', `${UPSTREAMS}---\na: b`, '6:1: a settings file is one document: take out the line ---'],
    ['a quote that is left open', 'scheme: "a', '1:11: a colon, comma, closing quote or closing bracket is missing'],
    ['what no word is found for', 'a: !x !y b', '1:7: this is not YAML'],
    [
      'a reference between brackets',
      'http: { allowedHosts: [${HOST}] }',
      '1:25: between brackets, ${…} must stand in quotes; for a number, or true and false, it needs a line of its own',
    ],
  ];
  for (const [what, yaml, expected] of wrong) {
    it(`name ${what}`, async () => {
      expect(await issuesIn(yaml)).to.deep.equal([expected]);
    });
  }

  it('report the text of a file first, one issue a line', async () => {
    expect(await issuesIn('scheme: "a" b c\nhttp: { prot: 1 }\nlog: @x\n')).to.deep.equal([
      '1:13: not expected here: put text with special characters in quotes',
      '3:6: plain text cannot begin with this character: put it in quotes',
    ]);
  });

  it('omit what follows from a tab, or from a reference between brackets', async () => {
    const tabs = 'http:\n\thost: a\n\tport: 1\nlog:\n  level: info\n level: warn\n';
    expect(await issuesIn(tabs)).to.deep.equal([
      '2:1: indent with spaces: YAML takes no tabs',
      '3:1: indent with spaces: YAML takes no tabs',
    ]);
    const [first, ...others] = await issuesIn(
      'http: { port: ${PORT} }\nadmin: { enabled: true }\nscheme: a\nlog:\n  level: info\n',
    );
    expect(first).to.match(/^1:16: between brackets/);
    expect(others).to.deep.equal([]);
    // What comes before is told.
    expect((await issuesIn('scheme: "a" b\nhttp:\n\tport: 1\n')).map((issue) => issue.split(':', 1)[0])).to.deep.equal([
      '1',
      '3',
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
    for (const broken of [
      `a: "\\${secret}"`,
      `a: !${secret} b`,
      `a: ${secret}: b`,
      `${secret}\nb: c`,
      `a: |${secret}`,
    ]) {
      const told = await issuesIn(broken);
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

  it('are few where aliases would make a file explode', async () => {
    const lines = Array.from({ length: 40 }, (_, index) => `  - &a${index + 1} [*a${index}, *a${index}]`);
    const begun = performance.now();
    const issues = await issuesIn(`http:\n  - &a0 [x]\n${lines.join('\n')}\n${UPSTREAMS}`);
    expect(issues.some((issue) => issue.includes('holds more than 100000 values'))).to.equal(true);
    expect(performance.now() - begun).to.be.lessThan(5000);
  });

  it('are reported if blocks are nested too deeply', async () => {
    const deep = (levels: number) => `scheme: ${'['.repeat(levels)}${']'.repeat(levels)}\n${UPSTREAMS}`;
    expect(await issuesIn(deep(40))).to.include(`1:41: scheme${'[0]'.repeat(32)}: is nested too deeply`);
    const [issue] = await issuesIn(deep(100_000));
    expect(issue).to.match(/^1:\d+: nested too deeply$/);
  });

  it('include expressions, which are compiled while settings are read', async () => {
    const [issue] = await issuesIn(`resources: { tools: { items: "a[" } }\n${UPSTREAMS}`);
    expect(issue).to.match(/^1:30: resources\.tools\.items: is no JMESPath expression/);
  });
});
