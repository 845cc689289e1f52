import { createHmac } from 'node:crypto';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { type HttpUpstream, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { linesIn } from '../../support/process/json-lines.ts';
import { inFolder, type PorticoProcess, runPortico, runStdio, writeSettings } from '../../support/process/process.ts';
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

  /** Settings whose audit goes to a file, or to standard output. Its key is in the folder. */
  async function settingsIn(folder: string, file?: string): Promise<string> {
    const keyFile = join(folder, 'key');
    await writeFile(keyFile, `${KEY}\n`);
    const settings = {
      http: { port: 0, trustedProxies: ['127.0.0.1'] },
      log: { level: 'debug' },
      admin: { enabled: false },
      audit: { enabled: true, keyFile, file },
      upstreams: { platform: { baseUrl: platform.url } },
      resources: { projects: { enabled: false }, workflows: { upstream: 'platform' }, tools: { upstream: 'platform' } },
    };
    return writeSettings(folder, JSON.stringify(settings));
  }

  async function start(folder: string, file?: string): Promise<{ portico: PorticoProcess; url: string }> {
    const portico = runPortico(['serve', await settingsIn(folder, file)]);
    return { portico, url: await portico.ready };
  }

  const read = (url: string, token: string | undefined, headers: Record<string, string> = {}) =>
    fetch(`${url}/mcp/v1/resources/read?uri=platform://tools`, {
      headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
    });

  const post = (url: string, message: unknown) =>
    exchange(url, postText(message, { Authorization: `Bearer ${SECRET}` }));

  it('logs each read over each edge, with an HMAC in place of the token', async () => {
    await inFolder(async (folder) => {
      const file = join(folder, 'audit.log');
      const { portico, url } = await start(folder, file);
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
      const text = await readFile(file, 'utf8');
      const lines = linesIn(text);
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
      for (const output of [text, stdout, stderr]) {
        expect(output).not.to.include(SECRET);
        expect(output).not.to.include(KEY);
      }
      expect((await stat(file)).mode & 0o007).to.equal(0);
      expect(stdout).not.to.include('"audit"');
    });
  });

  it('is written to standard output without a file, which ignores SIGUSR2, and appended to an existing file', async () => {
    await inFolder(async (folder) => {
      const first = await start(folder);
      first.portico.child.kill('SIGUSR2');
      await read(first.url, SECRET);
      const { code, stdout } = await first.portico.stop();
      expect(code).to.equal(0);
      expect(linesIn(stdout).filter(({ msg }) => msg === 'audit')).to.have.length(1);
      const file = join(folder, 'audit.log');
      await writeFile(file, '{"msg":"before"}\n');
      const second = await start(folder, file);
      await read(second.url, SECRET);
      await second.portico.stop();
      expect(linesIn(await readFile(file, 'utf8')).map(({ msg }) => msg)).to.deep.equal(['before', 'audit']);
    });
  });

  it('reopens its file at SIGUSR2, without losing a line under load', async () => {
    await inFolder(async (folder) => {
      const file = join(folder, 'audit.log');
      const { portico, url } = await start(folder, file);
      let reads = 0;
      const rotations = 5;
      for (let rotation = 0; rotation < rotations; rotation += 1) {
        const reading = Array.from({ length: 20 }, () => read(url, SECRET));
        reads += reading.length;
        await rename(file, `${file}.${rotation}`);
        portico.child.kill('SIGUSR2');
        await Promise.all(reading);
        await eventually(() => portico.stdout().split('audit file reopened').length === rotation + 2);
      }
      expect((await portico.stop()).code).to.equal(0);
      const files = [file, ...Array.from({ length: rotations }, (_, rotation) => `${file}.${rotation}`)];
      const texts = await Promise.all(files.map((name) => readFile(name, 'utf8')));
      expect(texts.flatMap(linesIn)).to.have.length(reads);
      expect(portico.stdout()).not.to.include('signal ignored');
    });
  });

  it('keeps its file when the new one cannot be opened', async () => {
    await inFolder(async (folder) => {
      const file = join(folder, 'audit.log');
      const { portico, url } = await start(folder, file);
      await rename(file, `${file}.1`);
      await mkdir(file);
      portico.child.kill('SIGUSR2');
      await eventually(() => portico.stdout().includes('"error":"EISDIR","msg":"audit file not reopened"'));
      await read(url, SECRET);
      expect((await portico.stop()).code).to.equal(0);
      expect(linesIn(await readFile(`${file}.1`, 'utf8'))).to.have.length(1);
    });
  });

  it('prevents the start when its key or file cannot be used', async () => {
    await inFolder(async (folder) => {
      const settings = await settingsIn(folder, join(folder, 'away', 'audit.log'));
      const { code, stderr } = await runPortico(['serve', settings]).ended;
      expect(code).to.equal(2);
      expect(stderr).to.match(/audit\.file: cannot be written \(ENOENT\)/);
      const other = await settingsIn(folder, join(folder, 'audit.log'));
      await writeFile(join(folder, 'key'), 'short\n');
      const short = await runPortico(['serve', other]).ended;
      expect(short.code).to.equal(2);
      expect(short.stderr).to.match(/portico\.yaml:1:\d+: audit\.keyFile: must contain at least 32 characters/);
      expect(short.stderr).not.to.include('short\n');
    });
  });

  it('is written over stdio, too', async () => {
    await inFolder(async (folder) => {
      const file = join(folder, 'audit.log');
      const settings = await settingsIn(folder, file);
      const portico = runStdio(settings, { PORTICO_TOKEN: SECRET });
      portico.child.stdin.end(`${JSON.stringify(readOf('tools'))}\n`);
      expect((await portico.ended).code).to.equal(0);
      const [line, ...others] = linesIn(await readFile(file, 'utf8'));
      expect(others).to.deep.equal([]);
      expect(line).to.include({ edge: 'stdio', rpc: 'resources/read', resource: 'tools', token: NAME, outcome: 'ok' });
    });
  });
});
