import { expect } from 'chai';
import { issueLine } from '../../../src/core/config/mistakes/config-error.ts';
import { load } from './settings-file.ts';

/** The warnings of such settings, as `line:column: path: message`. */
async function warningsIn(yaml: string): Promise<string[]> {
  const { warnings } = await load(yaml);
  return warnings.map((warning) => issueLine(warning, 'f').replace('f:', ''));
}

const UPSTREAMS = 'upstreams: { tools: { baseUrl: https://a.example } }\n';

describe('the warnings of settings that are right each', () => {
  it('are told of an address under which MCP would stand at /mcp/mcp', async () => {
    expect(await warningsIn(`${UPSTREAMS}publicUrl: https://portico.example/mcp`)).to.deep.equal([
      '2:12: publicUrl: ends with /mcp, and MCP is at /mcp below it: leave that off, unless clients are to ask for /mcp/mcp',
    ]);
    expect(await warningsIn(`${UPSTREAMS}publicUrl: https://portico.example/tools`)).to.deep.equal([]);
  });

  it('are told of a block that waits to be enabled, and not of one that is switched off', async () => {
    expect(await warningsIn(`${UPSTREAMS}audit: { file: /a }\ntracing: { sampleRatio: 1 }`)).to.deep.equal([
      '2:1: audit: does nothing without enabled: true',
      '3:1: tracing: does nothing without enabled: true',
    ]);
    const off = 'audit: { enabled: false, file: /a }\ntracing: { enabled: true, sampleRatio: 1 }';
    expect(await warningsIn(UPSTREAMS + off)).to.deep.equal([]);
  });

  it('are told of a version that address and path both have', async () => {
    const at = (baseUrl: string, tools: string) => `upstreams: { tools: { baseUrl: ${baseUrl} } }
resources: { tools: { pagination: { kind: none }${tools} } }`;
    expect(await warningsIn(at('https://a.example/v1/', ''))).to.deep.equal([
      '1:32: upstreams.tools.baseUrl: ends as the path of tools begins, and both are sent, as /v1/v1: leave one of them off',
    ]);
    expect(await warningsIn(at('https://a.example/x/api', ', path: /api/tools'))).to.deep.equal([
      '2:57: resources.tools.path: begins as baseUrl of tools ends, and both are sent, as /api/api: leave one of them off',
    ]);
    for (const [baseUrl, tools] of [
      ['https://a.example/v2', ''],
      ['https://a.example/tools', ', path: /tools/all'],
      ['https://a.example', ', path: /'],
      [
        'https://a.example/v1',
        ', enabled: false } , projects: { upstream: tools, path: /list, pagination: { kind: none }',
      ],
    ] as const) {
      expect(await warningsIn(at(baseUrl, tools)), baseUrl).to.deep.equal([]);
    }
  });

  it('are told of a listener that answers for any Host, where callers are verified', async () => {
    const verified = 'verification: { issuer: https://login.example, audience: a }';
    const at = (http: string, rest = '') =>
      `upstreams: { tools: { baseUrl: https://a.example, credential: { kind: passthrough } } }\n${verified}\nhttp: { ${http} }\n${rest}`;
    const message = 'any Host is answered for, also the name of a web page: set http.allowedHosts or publicUrl';
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

  it('are told of an upstream that is the gateway itself', async () => {
    const at = (baseUrl: string, http: string) => `upstreams: { tools: { baseUrl: "${baseUrl}" } }\nhttp: { ${http} }`;
    for (const [baseUrl, http] of [
      ['http://127.0.0.1:8080', 'port: 8080'],
      ['http://localhost:8080/v2', 'host: 0.0.0.0, allowedHosts: [a]'],
      ['https://[::1]:8443', "host: '::', port: 8443, allowedHosts: [a]"],
    ] as const) {
      expect(await warningsIn(at(baseUrl, http)), baseUrl).to.deep.equal([
        '1:32: upstreams.tools.baseUrl: seems to be this gateway itself, by http.port: each read would ask it for another one',
      ]);
    }
    for (const [baseUrl, http] of [
      ['http://127.0.0.1:8081', 'port: 8080'],
      ['http://platform.internal:8080', 'host: 0.0.0.0, allowedHosts: [a]'],
      ['http://localhost:8080', 'host: 192.0.2.1, allowedHosts: [a]'],
      ['http://localhost:8080', 'socketPath: /a'],
    ] as const) {
      expect(await warningsIn(at(baseUrl, http)), baseUrl).to.deep.equal([]);
    }
  });

  it('are told once of an upstream whose pages may be larger than all that is loaded at once', async () => {
    const message = 'a page may be larger than maxLoadingBytes, which all reads have together: it then fails its read';
    expect(await warningsIn(`${UPSTREAMS}maxLoadingBytes: 2097151`)).to.deep.equal([
      `2:18: maxLoadingBytes: ${message}`,
    ]);
    const large = `upstreams: { api: { baseUrl: https://a.example, maxPageBytes: 200000000 } }
resources: { projects: { upstream: api }, tools: { upstream: api } }`;
    expect(await warningsIn(large)).to.deep.equal([`1:63: upstreams.api.maxPageBytes: ${message}`]);
    expect(await warningsIn(`${UPSTREAMS}maxLoadingBytes: 2097152`)).to.deep.equal([]);
  });
});
