import { createHmac } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadSettings } from '../../../src/composition.ts';
import { ConfigError, createGateway } from '../../../src/gateway.ts';
import { type HttpUpstream, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { linesIn } from '../../support/process/json-lines.ts';
import { newFolder, runPortico, runStdio, writeSettings } from '../../support/process/process.ts';
import { exchange } from '../../support/raw-http.ts';
import { callOf, postText, readOf, rpc } from '../../support/rpc.ts';

const KEY = 'key-of-the-audit-'.padEnd(40, '0');
const SECRET = 'marked-token-of-the-caller';
const NAME = createHmac('sha256', KEY).update(SECRET).digest('base64url');

describe('the audit of a process', () => {
  let platform: HttpUpstream;

  before(async () => {
    platform = await startHttpUpstream((request, response) => {
      if (request.headers.authorization === 'Bearer refused') response.statusCode = 401;
      response.setHeader('Content-Type', 'application/json');
      response.end('{"tools":[{"id":"a","name":"A"}],"workflows":[],"nextPageToken":""}');
    });
  });

  /** Settings with an audit, whose key is in the folder. */
  async function settingsIn(folder: string, format?: 'ocsf'): Promise<string> {
    const keyFile = join(folder, 'key');
    await writeFile(keyFile, `${KEY}\n`);
    const settings = {
      http: { port: 0, trustedProxies: ['127.0.0.1'] },
      log: { level: 'info' },
      admin: { enabled: false },
      audit: { enabled: true, keyFile, ...(format && { format }) },
      upstreams: { platform: { baseUrl: platform.url } },
      resources: { projects: { enabled: false }, workflows: { upstream: 'platform' }, tools: { upstream: 'platform' } },
    };
    return writeSettings(folder, JSON.stringify(settings));
  }

  const auditIn = (text: string) => linesIn(text).filter(({ msg }) => msg === 'audit');

  const read = (url: string, token: string | undefined, headers: Record<string, string> = {}) =>
    fetch(`${url}/mcp/v1/resources/read?uri=platform://tools`, {
      headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
    });

  const post = (url: string, message: unknown) =>
    exchange(url, postText(message, { Authorization: `Bearer ${SECRET}` }));

  it('logs each read over each edge, with an HMAC in place of the token', async () => {
    const folder = await newFolder();
    const portico = runPortico(['serve', await settingsIn(folder)]);
    const url = await portico.ready;
    await read(url, SECRET, { 'x-forwarded-for': '198.51.100.1, 203.0.113.7', 'x-request-id': 'r-1' });
    await read(url, undefined);
    await read(url, 'refused');
    await fetch(`${url}/mcp/v1/resources`, { headers: { authorization: `Bearer ${SECRET}` } });
    await fetch(`${url}/livez`);
    await post(url, callOf('list_installed_tools'));
    await post(url, rpc('tools/list'));
    await post(url, readOf('workflows'));
    await post(url, readOf('nothing'));
    await post(url, '{');
    const { stdout, stderr, code } = await portico.stop();
    expect(code).to.equal(0);
    const lines = auditIn(stdout);
    expect(
      lines.map(({ edge, rpc: method, resource, outcome, status }) => [edge, method, resource, outcome, status]),
    ).to.deep.equal([
      ['http', undefined, 'tools', 'ok', 200],
      ['http', undefined, undefined, 'credential_missing', 401],
      ['http', undefined, 'tools', 'credential_rejected', 401],
      ['http', 'tools/call', 'tools', 'ok', 200],
      ['http', 'resources/read', 'workflows', 'ok', 200],
      ['http', 'resources/read', undefined, 'resource_unknown', 200],
      ['http', undefined, undefined, 'parse_error', 400],
    ]);
    expect(lines[0]).to.include({ from: '203.0.113.7', token: NAME, requestId: 'r-1', msg: 'audit' });
    expect(lines[1]).to.include({ from: '127.0.0.1' }).and.not.have.property('token');
    expect(new Set([lines[3], lines[4], lines[5]].map((line) => line?.['token']))).to.deep.equal(new Set([NAME]));
    for (const output of [stdout, stderr]) {
      expect(output).not.to.include(SECRET);
      expect(output).not.to.include(KEY);
    }
  });

  it('prevents the start when its key cannot be used', async () => {
    const folder = await newFolder();
    const file = await settingsIn(folder);
    await writeFile(join(folder, 'key'), 'short\n');
    const { settings } = await loadSettings(file, {});
    expect(() => createGateway(settings)).to.throw(ConfigError, 'audit.keyFile: must contain at least 32 characters');
  });

  it('has events of OCSF in place of lines, between those of the log, also over stdio', async () => {
    const folder = await newFolder();
    const portico = runStdio(await settingsIn(folder, 'ocsf'), { PORTICO_TOKEN: SECRET });
    portico.child.stdin.end(`${JSON.stringify(readOf('tools'))}\n`);
    const { code, stderr } = await portico.ended;
    expect(code).to.equal(0);
    expect(stderr).to.not.include(SECRET);
    expect(auditIn(stderr)).to.deep.equal([]);
    const [event, ...others] = linesIn(stderr).filter(({ class_uid }) => class_uid === 6003);
    expect(others).to.deep.equal([]);
    expect(event).to.not.have.any.keys('level', 'msg');
    expect(event).to.nested.include({
      'api.operation': 'resources/read',
      'src_endpoint.name': 'stdio',
      status_id: 1,
    });
    expect(event.actor).to.deep.equal({ session: { credential_uid: NAME } });
  });
});
