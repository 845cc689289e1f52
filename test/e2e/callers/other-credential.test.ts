import { expect } from 'chai';
import { captureLog } from '../../core/log/captured-log.ts';
import { type RunningGateway, settingsFor, startGateway, TOKEN } from '../../support/gateway.ts';
import type { TestSettings } from '../../support/limits.ts';
import { type HttpUpstream, listOf, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { runStdio, settingsFile } from '../../support/process/process.ts';
import { exchange, get } from '../../support/raw-http.ts';
import { readOf, rpc } from '../../support/rpc.ts';

const FROM = 'X-Acme-Key';
const SECRET = 'k3y-0f-alice-0123456789';
const TOOLS = '/mcp/v1/resources/read?uri=platform://tools';

describe('a credential in a separate header, for one upstream', () => {
  let platform: HttpUpstream;
  let running: RunningGateway;
  let log: ReturnType<typeof captureLog>;
  let refuses = false;

  const settings = (from = FROM): TestSettings => {
    const base = settingsFor(platform.url, {
      log: { level: 'debug' },
      http: { allowedOrigins: ['https://app.example'] },
    });
    const { tools, ...others } = base.upstreams;
    const credential = { kind: 'header', name: 'X-Api-Key', format: 'key {token}', from } as const;
    return { ...base, upstreams: { ...others, tools: { ...tools, baseUrl: platform.url, credential } } };
  };
  const read = (name: string, keys: Record<string, string> = { [FROM]: SECRET }) =>
    running.read(name, { headers: keys });
  const shown = async (response: Promise<Response>) => {
    const answered = await response;
    const body = (await answered.json()) as { name: string }[] & { code: string };
    return [answered.status, body[0]?.name ?? body.code];
  };

  beforeEach(async () => {
    refuses = false;
    platform = await startHttpUpstream((request, response) => {
      const name = listOf(request);
      if (refuses) return void response.writeHead(401).end();
      // The name tells what the platform was given.
      const given = request.headers['x-api-key'] ?? request.headers.authorization;
      response.end(JSON.stringify({ [name]: [{ id: 'a', name: given }], nextPageToken: '' }));
    });
    log = captureLog();
    running = await startGateway(settings(), { logger: log.logger });
  });

  afterEach(async () => {
    await running.gateway.close();
    expect(log.text()).to.not.contain(SECRET).and.not.contain(TOKEN);
  });

  it('is sent to that upstream only', async () => {
    expect(await shown(read('tools'))).to.deep.equal([200, `key ${SECRET}`]);
    expect(await shown(read('workflows'))).to.deep.equal([200, `Bearer ${TOKEN}`]);
    const [tools, workflows] = platform.requests.map(({ headers }) => headers);
    expect(tools)
      .to.include({ 'x-api-key': `key ${SECRET}` })
      .and.not.have.any.keys('authorization', 'x-acme-key');
    expect(workflows)
      .to.include({ authorization: `Bearer ${TOKEN}` })
      .and.not.have.any.keys('x-api-key', 'x-acme-key');
  });

  it('is found in any case and required for that upstream only', async () => {
    expect(await shown(read('tools', { [FROM.toLowerCase()]: 'one' }))).to.deep.equal([200, 'key one']);
    expect(await shown(read('projects', {}))).to.deep.equal([200, `Bearer ${TOKEN}`]);
    const response = await read('tools', {});
    expect(response.status).to.equal(401);
    expect(response.headers.get('www-authenticate')).to.equal('Bearer');
    const { code, detail, upstream } = (await response.json()) as Record<string, string>;
    expect({ code, upstream }).to.deep.equal({ code: 'credential_missing', upstream: 'tools' });
    expect(detail).to.contain(FROM);
  });

  it('identifies the caller: two callers with the same access token share nothing', async () => {
    const of = (key: string) => shown(read('tools', { [FROM]: key }));
    const rejected = [401, 'credential_rejected'];
    const both = await Promise.all(['one', 'two'].map(of));
    expect([...both, await of('one')]).to.deep.equal(['one', 'two', 'one'].map((key) => [200, `key ${key}`]));
    expect(platform.requests).to.have.length(2);
    refuses = true;
    expect(await of('three')).to.deep.equal(rejected);
    // What one is refused for is remembered of that one.
    refuses = false;
    expect([await of('four'), await of('three'), await of('two')]).to.deep.equal([
      ...[[200, 'key four'], rejected, [200, 'key two']],
    ]);
  });

  it('is named in Vary, with each status, over both edges', async () => {
    const bring = { authorization: `Bearer ${TOKEN}`, [FROM]: 'one' };
    const varies = (response: Response) => (response.headers.get('vary') ?? '').split(', ');
    const alice = await read('tools', bring);
    // RFC 9111, section 4.1: what was stored answers a request with the same values of all fields that Vary names.
    const reused = (headers: Record<string, string>) =>
      varies(alice).every((name) => new Headers(bring).get(name) === new Headers(headers).get(name));
    expect(reused(bring)).to.equal(true);
    expect(reused({ ...bring, [FROM]: 'two' })).to.equal(false);

    const etag = alice.headers.get('etag') ?? '';
    for (const [status, response] of [
      [200, alice],
      [200, await read('tools', { ...bring, 'accept-encoding': 'gzip' })],
      [200, await running.read('tools', { method: 'HEAD', headers: bring })],
      [304, await read('tools', { ...bring, 'if-none-match': etag })],
      [401, await read('tools', { authorization: bring.authorization })],
      [401, await read('tools', { ...bring, authorization: 'Basic YTpi' })],
      [404, await read('nothing', bring)],
      [406, await read('tools', { ...bring, accept: 'text/html' })],
      [200, await fetch(`${running.url}/mcp/v1/resources`, { headers: bring })],
      [200, await running.post(rpc('ping'), bring)],
      [415, await running.post(rpc('ping'), { ...bring, 'content-type': 'text/plain' })],
    ] as const) {
      expect(response.status).to.equal(status);
      expect(varies(response), `${status}`).to.include.members(['Authorization', 'Accept', FROM]);
    }
  });

  it('is rejected when it occurs twice or is not a valid header value', async () => {
    const { url } = running;
    const twice = get(TOOLS, { [FROM]: 'one' }).replace('\r\n\r\n', `\r\n${FROM}: two\r\n\r\n`);
    const { code, detail } = JSON.parse(`${(await exchange(url, twice)).body}`);
    expect({ code, detail }).to.deep.equal({
      code: 'invalid_request',
      detail: `The request has more than one ${FROM} header.`,
    });
    const garbled = Buffer.from(get(TOOLS, { [FROM]: 'o\xffne' }), 'latin1');
    expect(JSON.parse(`${(await exchange(url, garbled)).body}`).code).to.equal('credential_malformed');
    expect(platform.requests).to.have.length(0);
  });

  it('that is rejected names its header, and does not log clients out of MCP', async () => {
    refuses = true;
    const response = await read('tools');
    expect(response.status).to.equal(401);
    expect(((await response.json()) as { detail: string }).detail).to.contain(FROM);
    const call = (headers: Record<string, string>) => running.post(readOf('tools'), headers);
    for (const headers of [{ [FROM]: 'another' }, {}]) {
      const told = await call(headers);
      expect(told.status).to.equal(200);
      const { error } = (await told.json()) as { error: { message: string; data: { upstream: string } } };
      expect(error.message).to.contain(FROM);
      expect(error.data.upstream).to.equal('tools');
    }
    refuses = false;
    expect(await (await call({ [FROM]: 'good' })).text()).to.contain('key good');
  });

  it('may be sent by web pages, is described, and is in no header that Portico reads itself', async () => {
    const preflight = await fetch(`${running.url}${TOOLS}`, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example', 'access-control-request-method': 'GET' },
    });
    expect(preflight.headers.get('access-control-allow-headers')).to.contain('x-acme-key');
    const described = JSON.parse(await (await fetch(`${running.url}/openapi.json`)).text());
    expect(described.security).to.deep.equal([{ bearer: [], [FROM]: [] }]);
    for (const from of ['Authorization', 'X-Request-Id', 'Mcp-Name']) {
      expect(() => running.gateway.change(settings(from)), from).to.throw('upstreams.tools.credential.from');
    }
  });

  it('is not propagated in tracestate or baggage, and neither is the access token, over both edges', async () => {
    const odd = 'k"\\%;,of-alice';
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const bring = { [FROM]: odd };
    for (const [tracestate, expected] of [
      ['a=plain', 'a=plain'],
      [`a=${odd}`, undefined],
      [`a=${encodeURIComponent(odd)}`, undefined],
      [`a=1,b=x${TOKEN}x`, undefined],
    ] as const) {
      const trace = { traceparent, tracestate, baggage: `user=${odd},token=${TOKEN}` };
      const before = platform.requests.length;
      expect((await read('projects', { ...bring, ...trace })).status).to.equal(200);
      const message = rpc('resources/read', { uri: 'platform://projects', _meta: trace });
      await (await running.post(message, { ...bring, ...trace })).text();
      const given = platform.requests.slice(before);
      expect(given).to.have.length(2);
      for (const { headers } of given) {
        expect(headers['traceparent']).to.contain('4bf92f3577b34da6a3ce929d0e0e4736');
        expect([headers['tracestate'], headers['baggage']], tracestate).to.deep.equal([expected, undefined]);
      }
    }
    expect(log.text()).to.not.contain('of-alice');
  });

  it('comes from an environment variable for portico stdio', async () => {
    const credential = `{ kind: header, name: X-Api-Key, from: ${FROM} }`;
    const text = `upstreams: { tools: { baseUrl: "${platform.url}", credential: ${credential} } }\n`;
    const file = await settingsFile(text);
    const stdio = runStdio(file, { PORTICO_TOKEN: '', PORTICO_HEADER_X_ACME_KEY: SECRET });
    stdio.child.stdin.end(`${JSON.stringify(readOf('tools'))}\n`);
    const { code, stdout, stderr } = await stdio.ended;
    expect(code, stdout + stderr).to.equal(0);
    expect(platform.requests.map(({ headers }) => headers['x-api-key'])).to.deep.equal([SECRET]);
    expect(stderr).to.not.contain(SECRET);
  });
});
