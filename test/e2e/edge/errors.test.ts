import type { RequestListener } from 'node:http';
import { expect } from 'chai';
import { ERRORS, type ErrorCode } from '../../../src/core/kernel/error-table.ts';
import { captureLog } from '../../core/log/captured-log.ts';
import { TOKEN } from '../../support/authorization/caller.ts';
import { eventually } from '../../support/eventually.ts';
import { startGateway } from '../../support/gateway.ts';
import { type HttpUpstream, json, startHttpUpstream, tokenOf } from '../../support/platform/http-upstream.ts';
import { holdToDescription } from '../../support/platform/openapi.ts';
import type { RawResponse } from '../../support/platform/raw-response.ts';
import { requestText, sendTo } from '../../support/raw-http.ts';

const READ = '/mcp/v1/resources/read';

/** What the platform does, by the token that it is sent. */
const PLATFORM: Record<string, RequestListener> = {
  refused: json({}, 401),
  denied: json({}, 403),
  strict: json({ secret: 'upstream text' }, 400),
  hasty: json({}, 429, { 'retry-after': '7' }),
  failing: json({ secret: 'upstream text' }, 500),
  garbage: (_request, response) => response.end('<html>upstream text</html>'),
  stalling: () => {},
};

interface More {
  /** What the value of a field holds, or matches. */
  readonly headers?: Record<string, string | RegExp>;
  /** A request that the platform has, and has not answered, when the request of the case is sent. */
  readonly during?: string;
  /** Requests that are answered before. */
  readonly before?: readonly string[];
}

type Case = readonly [code: ErrorCode, when: string, request: string, more?: More];

const get = (target: string, headers: Record<string, string> = {}, body = '') =>
  requestText('GET', target, { Connection: 'close', ...headers }, body);
const read = (resource: string, token = TOKEN) =>
  get(`${READ}?uri=platform://${resource}`, { Authorization: `Bearer ${token}` });
const post = (body: string, headers: Record<string, string> = {}) =>
  requestText('POST', '/mcp', { Connection: 'close', 'Content-Type': 'application/json', ...headers }, body);
const at = (uri: string, headers: Record<string, string> = {}) => get(`${READ}?uri=${uri}`, headers);
const challenge = (part: string) => ({ headers: { 'www-authenticate': part } });
const invalidToken = challenge('error="invalid_token"');
const allow = (methods: string) => ({ headers: { allow: methods } });
const wait = (seconds: string | RegExp) => ({ headers: { 'retry-after': seconds } });
const TOOLS = 'platform://tools';
const BARE = `GET ${READ}?uri=${TOOLS} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`;
const CODED = `${get(READ, { 'Transfer-Encoding': 'gzip, chunked' })}0\r\n\r\n`;

const CASES: readonly Case[] = [
  ['credential_missing', 'no Authorization', BARE, challenge('Bearer')],
  ['credential_malformed', 'Basic', get(READ, { Authorization: 'Basic YTpi' }), invalidToken],
  ['credential_rejected', 'the upstream says 401', read('tools', 'refused'), invalidToken],
  ['access_denied', 'the upstream says 403', read('tools', 'denied'), challenge('error="insufficient_scope"')],
  ['upstream_credential_rejected', 'an upstream without a credential says 401', read('workflows', 'refused')],
  ['uri_missing', 'no uri', get(READ)],
  ['resource_unknown', 'another uri', at('platform://users')],
  ['invalid_request', 'two Authorization fields', get(READ, { authorization: 'Bearer other' })],
  ['not_found', 'another path', get('/mcp/v2/resources')],
  ['method_not_allowed', 'another method', get(READ).replace('GET', 'DELETE'), allow('GET, HEAD')],
  ['not_acceptable', 'Accept leaves out JSON', at(TOOLS, { Accept: 'text/html' })],
  ['request_timeout', 'the headers never end', 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n'],
  ['too_large', 'a message over 1 MiB', post('', { 'Content-Length': '1048577' })],
  ['unsupported_media_type', 'a message in XML', post('<a/>', { 'Content-Type': 'text/xml' })],
  ['transfer_coding_unsupported', 'a body in another coding than chunks', CODED],
  ['uri_too_long', 'a long request target', at('x'.repeat(9000))],
  ['headers_too_large', 'a request target past all limits', at('x'.repeat(40_000))],
  ['origin_refused', 'a web origin', get(READ, { Origin: 'https://evil.example' })],
  ['host_refused', 'a foreign Host', get(READ, { Host: 'evil.example' })],
  ['upstream_rate_limited', 'the upstream says 429', read('tools', 'hasty'), wait('7')],
  ['upstream_refused', 'the upstream says 400', read('tools', 'strict')],
  ['upstream_failed', 'the upstream says 500', read('tools', 'failing')],
  ['upstream_invalid', 'the upstream sends a web page', read('tools', 'garbage')],
  ['upstream_timeout', 'the upstream stalls', read('tools', 'stalling')],
  [
    'breaker_open',
    'nobody listened there a moment ago',
    read('projects'),
    // It counts down, as slowly or as quickly as this machine comes here.
    { ...wait(/^([1-5]?\d|60)$/), before: Array(4).fill(read('projects')) },
  ],
  [
    'overloaded',
    'the one connection is taken, and nobody may wait',
    read('tools', 'hasty'),
    { ...wait('1'), during: read('tools', 'stalling') },
  ],
];

const MODERN = '"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}';

const UNKNOWN = `{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{${MODERN}}}}`;
const INITIALIZE = '{"jsonrpc":"2.0","id":1,"method":"initialize"}';
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

type RpcCase = readonly [code: ErrorCode, message: string, headers?: Record<string, string>, status?: number];

/** What a message to MCP is answered with, with the status of the table and as an error of JSON-RPC. */
const RPC_CASES: readonly RpcCase[] = [
  ['parse_error', '{'],
  ['invalid_rpc', '{}'],
  // What a method has to say stands in the message alone.
  ['invalid_params', INITIALIZE, {}, 200],
  ['version_unsupported', PING, { 'MCP-Protocol-Version': '2025-01-01' }],
  ['header_mismatch', UNKNOWN],
  ['not_found', UNKNOWN, { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'a' }],
];

const CODES = [...CASES.map(([code]) => code), ...RPC_CASES.map(([code]) => code)];

/** Sends a request on a connection of its own, and gives the one response with which the server closes that. */
async function respond(url: string, request: string): Promise<RawResponse> {
  const connection = sendTo(url, request);
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
  const log = captureLog('info');
  let platform: HttpUpstream;
  let url: string;

  before(async () => {
    platform = await startHttpUpstream((request, response) => {
      const token = tokenOf(request) || 'refused';
      (PLATFORM[token] ?? json({}))(request, response);
    });
    const breaker = { minimumCalls: 4, failurePercent: 80, openMs: 60_000 };
    const settings = {
      http: { headersTimeoutMs: 2000 },
      allowUnverifiedCallers: true,
      upstreams: {
        projects: { baseUrl: 'http://127.0.0.1:9', breaker },
        workflows: { baseUrl: platform.url, credential: { kind: 'none' } },
        tools: { baseUrl: platform.url, timeoutMs: 2000, connections: 1, maxQueue: 0 },
      },
    } as const;
    ({ url } = await startGateway(settings, { logger: log.logger }));
  });

  after(() => {
    for (const secret of [TOKEN, 'upstream text', ...Object.keys(PLATFORM).map((token) => `Bearer ${token}`)]) {
      expect(log.text()).not.to.contain(secret);
    }
  });

  for (const [code, when, request, { headers = {}, during, before: earlier = [] } = {}] of CASES) {
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
      holdToDescription(request, response);
      await held;
    });
  }

  for (const [code, message, headers, status = ERRORS[code].status] of RPC_CASES) {
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
    const failed = await eventually(() => {
      const lines = log.lines().filter(({ msg, outcome }) => msg === 'request' && outcome !== 'ok');
      return CODES.every((code) => lines.some(({ outcome }) => outcome === code)) && lines;
    });
    for (const { outcome, reason } of failed) expect(reason, String(outcome)).to.match(/\w/);
  });

  it('has a case for every row', () => {
    const provoked = new Set([...CODES, ...ELSEWHERE]);
    expect([...provoked].sort()).to.deep.equal(Object.keys(ERRORS).sort());
  });
});
