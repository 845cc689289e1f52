import type { RequestListener } from 'node:http';
import { expect } from 'chai';
import { ERRORS, type ErrorCode } from '../../../src/core/kernel/error-table.ts';
import { TOKEN } from '../../support/authorization/caller.ts';
import { eventually } from '../../support/eventually.ts';
import { type HttpUpstream, json, startHttpUpstream, tokenOf } from '../../support/platform/http-upstream.ts';
import { type Described, describedBy } from '../../support/platform/openapi.ts';
import type { RawResponse } from '../../support/platform/raw-response.ts';
import { boundedSettings } from '../../support/process/limits-of-process.ts';
import { inFolder, type PorticoProcess, runPortico, writeSettings } from '../../support/process/process.ts';
import { openConnection, requestText } from '../../support/raw-http.ts';

const READ = '/mcp/v1/resources/read';

/** What the platform does, by the token that it is sent. */
const PLATFORM: Record<string, RequestListener> = {
  refused: json({}, 401),
  denied: json({}, 403),
  strict: json({ secret: 'upstream text' }, 400),
  hasty: json({}, 429, { 'retry-after': '7' }),
  failing: json({ secret: 'upstream text' }, 500),
  moved: json({}, 301, { location: 'http://127.0.0.1:9/' }),
  garbage: (_request, response) => response.end('<html>upstream text</html>'),
  reset: (request) => request.socket.resetAndDestroy(),
  stalling: () => {},
};

interface Case {
  readonly code: ErrorCode;
  readonly when: string;
  readonly request: string;
  /** What the value of a field holds, or matches. */
  readonly headers?: Record<string, string | RegExp>;
  /** A request that the platform has, and has not answered, when `request` is sent. */
  readonly during?: string;
  /** Requests that are answered before `request` is sent. */
  readonly before?: readonly string[];
}

const get = (target: string, headers: Record<string, string> = {}, body = '') =>
  requestText('GET', target, { Connection: 'close', ...headers }, body);
const read = (resource: string, token = TOKEN) =>
  get(`${READ}?uri=platform://${resource}`, { Authorization: `Bearer ${token}` });
const post = (body: string, headers: Record<string, string> = {}) =>
  requestText('POST', '/mcp', { Connection: 'close', 'Content-Type': 'application/json', ...headers }, body);
const invalidToken = { 'www-authenticate': 'error="invalid_token"' };

const CASES: readonly Case[] = [
  {
    code: 'credential_missing',
    when: 'no Authorization',
    request: `GET ${READ}?uri=platform://tools HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`,
    headers: { 'www-authenticate': 'Bearer' },
  },
  {
    code: 'credential_malformed',
    when: 'Basic',
    request: get(READ, { Authorization: 'Basic YTpi' }),
    headers: invalidToken,
  },
  {
    code: 'credential_malformed',
    when: 'two tokens',
    request: get(READ, { Authorization: 'Bearer a b' }),
    headers: invalidToken,
  },
  {
    code: 'credential_rejected',
    when: 'the upstream says 401',
    request: read('tools', 'refused'),
    headers: invalidToken,
  },
  {
    code: 'access_denied',
    when: 'the upstream says 403',
    request: read('tools', 'denied'),
    headers: { 'www-authenticate': 'error="insufficient_scope"' },
  },
  {
    code: 'upstream_credential_rejected',
    when: 'an upstream without a credential says 401',
    request: read('workflows', 'refused'),
  },
  { code: 'uri_missing', when: 'no uri', request: get(READ) },
  { code: 'uri_missing', when: 'an empty uri', request: get(`${READ}?uri=`) },
  { code: 'uri_repeated', when: 'two uris', request: get(`${READ}?uri=platform://tools&uri=platform://tools`) },
  { code: 'resource_unknown', when: 'another uri', request: get(`${READ}?uri=platform://users`) },
  {
    code: 'invalid_request',
    when: 'two Authorization fields',
    request: get(READ, { authorization: 'Bearer other' }),
  },
  { code: 'invalid_request', when: 'a GET with a body', request: get(READ, { 'Content-Length': '2' }, '{}') },
  {
    code: 'invalid_request',
    when: 'conflicting framing',
    request: get(READ, { 'Content-Length': '2', 'Transfer-Encoding': 'chunked' }, '0\r\n\r\n'),
  },
  { code: 'not_found', when: 'another path', request: get('/mcp/v2/resources') },
  {
    code: 'method_not_allowed',
    when: 'another method',
    request: get(READ).replace('GET', 'DELETE'),
    headers: { allow: 'GET, HEAD' },
  },
  {
    code: 'not_acceptable',
    when: 'Accept leaves out JSON',
    request: get(`${READ}?uri=platform://tools`, { Accept: 'text/html' }),
  },
  { code: 'request_timeout', when: 'the headers never end', request: 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n' },
  { code: 'request_timeout', when: 'the body never ends', request: post('{', { 'Content-Length': '10' }) },
  { code: 'too_large', when: 'a message over 1 MiB', request: post('', { 'Content-Length': '1048577' }) },
  { code: 'unsupported_media_type', when: 'a message in XML', request: post('<a/>', { 'Content-Type': 'text/xml' }) },
  {
    code: 'transfer_coding_unsupported',
    when: 'a body in another coding than chunks',
    request: `${get(READ, { 'Transfer-Encoding': 'gzip, chunked' })}0\r\n\r\n`,
  },
  { code: 'method_not_allowed', when: 'a GET to MCP', request: get('/mcp'), headers: { allow: 'POST' } },
  { code: 'uri_too_long', when: 'a long request target', request: get(`${READ}?uri=${'x'.repeat(9_000)}`) },
  { code: 'uri_too_long', when: 'a request target past all limits', request: get(`${READ}?uri=${'x'.repeat(40_000)}`) },
  { code: 'headers_too_large', when: 'large headers', request: get(READ, { 'X-Large': 'x'.repeat(40_000) }) },
  { code: 'origin_refused', when: 'a web origin', request: get(READ, { Origin: 'https://evil.example' }) },
  { code: 'host_refused', when: 'a foreign Host', request: get(READ, { Host: 'evil.example' }) },
  {
    code: 'upstream_rate_limited',
    when: 'the upstream says 429',
    request: read('tools', 'hasty'),
    headers: { 'retry-after': '7' },
  },
  { code: 'upstream_refused', when: 'the upstream says 400', request: read('tools', 'strict') },
  { code: 'upstream_failed', when: 'the upstream says 500', request: read('tools', 'failing') },
  { code: 'upstream_failed', when: 'the upstream redirects', request: read('tools', 'moved') },
  { code: 'upstream_failed', when: 'the upstream resets', request: read('tools', 'reset') },
  { code: 'upstream_failed', when: 'nobody listens there', request: read('projects') },
  { code: 'upstream_invalid', when: 'the upstream sends a web page', request: read('tools', 'garbage') },
  { code: 'upstream_timeout', when: 'the upstream stalls', request: read('tools', 'stalling') },
  {
    code: 'breaker_open',
    when: 'nobody listened there a moment ago',
    before: Array(4).fill(read('projects')),
    request: read('projects'),
    // It counts down, as slowly or as quickly as this machine comes here.
    headers: { 'retry-after': /^([1-5]?\d|60)$/ },
  },
  {
    code: 'overloaded',
    when: 'the one connection is taken, and nobody may wait',
    during: read('tools', 'stalling'),
    request: read('tools', 'hasty'),
    headers: { 'retry-after': '1' },
  },
];

interface RpcCase {
  readonly code: ErrorCode;
  /** @default that of the row */
  readonly status?: number;
  readonly message: string;
  readonly headers?: Record<string, string>;
}

const MODERN = '"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}';

/** What a message to MCP is answered with, with the status of the table and as an error of JSON-RPC. */
const RPC_CASES: readonly RpcCase[] = [
  { code: 'parse_error', message: '{' },
  { code: 'invalid_rpc', message: '{}' },
  // What a method has to say stands in the message alone.
  { code: 'invalid_params', status: 200, message: '{"jsonrpc":"2.0","id":1,"method":"initialize"}' },
  {
    code: 'version_unsupported',
    message: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    headers: { 'MCP-Protocol-Version': '2025-01-01' },
  },
  { code: 'header_mismatch', message: `{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{${MODERN}}}}` },
  {
    code: 'not_found',
    message: `{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{${MODERN}}}}`,
    headers: { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'a' },
  },
];

/** Sends a request on a connection of its own, and gives the one response with which the server closes that. */
async function respond(url: string, request: string): Promise<RawResponse> {
  const connection = openConnection(url);
  connection.send(request);
  const { responses, rest } = await connection.closed();
  const [response] = responses;
  if (response === undefined || responses.length > 1 || rest.length > 0)
    throw new Error(`${responses.length} responses`);
  return response;
}

/**
 * Provoked elsewhere: a drain takes a signal (drain.test.ts), a bug takes a bug (test/core/http), a rate takes a limit that the
 * other cases would meet (test/capabilities/rate-limits), two are results of tools (test/core/mcp/tools), and one takes an issuer that is down
 * (verification.test.ts).
 */
const ELSEWHERE: readonly ErrorCode[] = [
  ...(['draining', 'internal', 'rate_limited', 'list_changed', 'result_too_large'] as const),
  'verifier_unavailable',
];

describe('the error table, over a real socket', () => {
  let platform: HttpUpstream;
  let portico: PorticoProcess;
  let url: string;
  let described: Described;

  before(async () => {
    platform = await startHttpUpstream((request, response) => {
      const token = tokenOf(request) || 'refused';
      (PLATFORM[token] ?? json({}))(request, response);
    });
    portico = await inFolder(async (folder) => {
      const { yaml, env } = boundedSettings(`
http: { port: 0, headersTimeoutMs: 2000, requestTimeoutMs: 2500 }
admin: { port: 0 }
allowUnverifiedCallers: true
upstreams:
  projects: { baseUrl: http://127.0.0.1:9, breaker: { minimumCalls: 4, failurePercent: 80, openMs: 60000 } }
  workflows: { baseUrl: ${platform.url}, credential: { kind: none } }
  tools: { baseUrl: ${platform.url}, timeoutMs: 2000, connections: 1, maxQueue: 0 }
`);
      const file = await writeSettings(folder, yaml);
      const started = runPortico(['--config', file], env);
      url = await started.ready;
      described = describedBy(await (await fetch(`${url}/openapi.json`)).text());
      return started;
    });
  });

  after(async () => {
    const { stdout, stderr } = await portico.stop();
    for (const secret of [TOKEN, 'upstream text', ...Object.keys(PLATFORM).map((token) => `Bearer ${token}`)]) {
      expect(stdout).not.to.contain(secret);
    }
    expect(stderr).to.equal('');
  });

  for (const { code, when, request, headers = {}, during, before: earlier = [] } of CASES) {
    it(`returns the status and headers of the error table for ${code}: ${when}`, async () => {
      for (const one of earlier) await respond(url, one);
      const asked = platform.requests.length;
      const held = during === undefined ? undefined : respond(url, during);
      if (held !== undefined) await eventually(() => platform.requests.length > asked);
      const response = await respond(url, request);
      const problem = response.json<{ requestId: string }>();
      const row = ERRORS[code];
      expect(response.status).to.equal(row.status);
      expect(response.headers.get('content-type')).to.equal('application/problem+json');
      expect(response.headers.get('cache-control')).to.equal('no-store');
      expect(problem).to.include({ code, status: row.status, title: row.title, type: `urn:portico:error:${code}` });
      expect(response.headers.get('x-request-id')).to.equal(problem.requestId);
      for (const [name, value] of Object.entries(headers)) {
        const given = response.headers.get(name);
        if (typeof value === 'string') expect(given).to.contain(value);
        else expect(given).to.match(value);
      }
      const text = response.body.toString();
      for (const secret of [TOKEN, 'upstream text', platform.url, '    at ']) expect(text).not.to.contain(secret);
      const [, target = ''] = /^GET (\/mcp\/v1\/resources[^ ]*) /.exec(request) ?? [];
      if (target !== '') described.check(target, response);
      await held;
    });
  }

  for (const { code, status = ERRORS[code].status, message, headers } of RPC_CASES) {
    it(`returns the status and JSON-RPC error of the error table for ${code}: ${message}`, async () => {
      const response = await respond(url, post(message, headers));
      const { rpc }: { readonly status: number; readonly rpc?: number } = ERRORS[code];
      expect(response.status).to.equal(status);
      expect(response.headers.get('content-type')).to.equal('application/json');
      expect(response.headers.get('cache-control')).to.equal('no-store');
      expect(response.json()).to.nested.include({
        jsonrpc: '2.0',
        'error.code': rpc,
        'error.data.code': code,
        'error.data.requestId': response.headers.get('x-request-id'),
      });
    });
  }

  it('has a reason in the log line of each failed request', async () => {
    const linesOf = () =>
      portico
        .stdout()
        .split('\n')
        .filter((line) => line.includes('"msg":"request"'))
        .map((line) => JSON.parse(line));
    const codes = [...CASES, ...RPC_CASES].map(({ code }) => code);
    const failed = await eventually(() => {
      const lines = linesOf().filter(({ outcome }) => outcome !== 'ok');
      return codes.every((code) => lines.some(({ outcome }) => outcome === code)) && lines;
    });
    for (const { outcome, reason } of failed) expect(reason, outcome).to.match(/\w/);
  });

  it('has a case for every row', () => {
    const provoked = new Set([...[...CASES, ...RPC_CASES].map(({ code }) => code), ...ELSEWHERE]);
    expect([...provoked].sort()).to.deep.equal(Object.keys(ERRORS).sort());
  });
});
