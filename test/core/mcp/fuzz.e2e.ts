import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { ERRORS, type ErrorCode } from '../../../src/core/kernel/error-table.ts';
import { atDepth } from '../../support/depth.ts';
import { eventually } from '../../support/eventually.ts';
import { type RunningGateway, settingsFor, startGateway } from '../../support/gateway.ts';
import { listOf, startHttpUpstream, tokenOf } from '../../support/platform/http-upstream.ts';
import type { RawResponse } from '../../support/platform/raw-response.ts';
import { openConnection } from '../../support/raw-http.ts';
import { SEED, SEEDED } from '../../support/seed.ts';
import { captureLog } from '../log/captured-log.ts';
import { MARK } from './fuzz/messages.ts';
import { requests, type Sent, SOUND, TOKEN } from './fuzz/requests.ts';

const TOTAL = atDepth(5000, 20_000);
/** Some wait a second, for a body that does not end. */
const AT_ONCE = 128;
const SHOWN = 2000;
/** A client leaves when its request has been read. */
const LEAVES_MS = 20;

/** How some requests have to end, or else what is sent misses its mark. */
const MET = [
  ...['ok', 'caller_gone', 'invalid_request', 'parse_error', 'invalid_rpc', 'not_found', 'invalid_params'],
  ...['header_mismatch', 'version_unsupported', 'resource_unknown', 'credential_malformed'],
];

/** Ways in which a request ends that no client can have brought about. */
const OUR_FAULT = [
  ...['internal', 'upstream_refused', 'upstream_failed', 'upstream_invalid', 'upstream_timeout', 'breaker_open'],
  'draining',
];

// biome-ignore lint/suspicious/noExplicitAny: taken apart here.
type Json = any;

type Row = { readonly status: number; readonly title: string; readonly rpc?: number };

function rowOf(code: ErrorCode): Row {
  expect(ERRORS, 'the code').to.have.property(code);
  return ERRORS[code];
}

/** Holds an answer to what a client may get. `sent`: the body that it answers, where that is known. */
function judge({ status, headers, body }: RawResponse, sent: Buffer | undefined): void {
  const text = body.toString();
  expect(text + JSON.stringify([...headers]), 'the answer').to.not.contain(TOKEN);
  if (status < 200) return;
  // 501: a transfer coding that is not supported.
  if (status !== 501) expect(status).to.be.below(500);
  const requestId = headers.get('x-request-id');
  expect(requestId).to.match(/^[a-zA-Z0-9._~:/+=@-]{1,128}$/);
  const type = headers.get('content-type');
  if (type === 'application/problem+json') {
    const { code, ...problem }: Json = JSON.parse(text);
    const { title } = rowOf(code);
    expect(problem).to.include({ status, title, requestId });
    expect(rowOf(code).status).to.equal(status);
  } else if (type === 'application/json' || type === 'text/event-stream') {
    const last = type === 'application/json' ? text : text.slice(text.lastIndexOf('data: ') + 'data: '.length);
    judgeMessage(JSON.parse(last), status, requestId, sent);
  } else expect([type, status, text]).to.deep.equal([null, 202, '']);
}

function judgeMessage(message: Json, status: number, requestId: string | null, sent: Buffer | undefined): void {
  const { jsonrpc, id, result, error } = message;
  expect([jsonrpc, result === undefined]).to.deep.equal(['2.0', error !== undefined]);
  // An invalid request may have no readable id; one with too many values is not parsed.
  const isUntold = id === null && ['invalid_rpc', 'too_large'].includes(error?.data.code);
  if (sent !== undefined && !isUntold) expect(id).to.equal(idIn(sent));
  if (error === undefined) {
    expect(status).to.equal(200);
    return;
  }
  const row = rowOf(error.data.code);
  expect(error.data.requestId).to.equal(requestId);
  expect([200, row.status]).to.include(status);
  expect([row.rpc, error.data.code === 'resource_unknown' ? -32002 : row.rpc]).to.include(error.code);
}

/** The id that an answer to a body has to have. */
function idIn(sent: Buffer): unknown {
  try {
    const { id } = Object(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(sent)));
    const isExact = typeof id === 'number' && Math.abs(id) <= Number.MAX_SAFE_INTEGER;
    return isExact ? JSON.parse(JSON.stringify(id)) : typeof id === 'string' ? id : null;
  } catch {
    return null;
  }
}

describe('POST /mcp with random input', () => {
  const log = captureLog();
  const waiting = new Set<ServerResponse>();
  let running: RunningGateway;
  let socketsBefore: number;

  before(async () => {
    socketsBefore = openSockets();
    const platform = await startHttpUpstream((request, response) => {
      waiting.add(response);
      response.on('close', () => waiting.delete(response));
      const token = tokenOf(request);
      if (token.endsWith('-slow')) return;
      response.writeHead(token.endsWith('-refused') ? 401 : token.endsWith('-denied') ? 403 : 200);
      response.end(JSON.stringify({ [listOf(request)]: [{ id: 'a', name: 'A' }] }));
    });
    const http = { headersTimeoutMs: 1000, requestTimeoutMs: 1500, keepAliveTimeoutMs: 1000 };
    running = await startGateway(settingsFor(platform.url, { http, upstream: { timeoutMs: 9000 } }), log);
  });

  /** Sends bytes on a connection of their own, and judges what comes back until it closes. */
  async function send({ bytes, leaves, body }: Sent): Promise<void> {
    const { socket, send: write, reset, closed } = openConnection(running.url);
    await once(socket, 'connect');
    write(bytes);
    if (leaves) await sleep(LEAVES_MS);
    if (leaves) reset();
    else if (body === undefined) socket.end();
    const { responses, rest, error } = await closed();
    for (const response of responses) judge(response, body);
    if (!leaves) expect(rest.toString('latin1'), 'half an answer').to.equal('');
    if (body !== undefined) expect(responses.length, `answers, ${error}`).to.equal(1);
  }

  it(`answers ${TOTAL} requests, or closes the connection ${SEEDED}`, async () => {
    const failed = new Map<string, string>();
    const samples = fc.sample(requests, { numRuns: TOTAL, seed: SEED }).values();
    const work = async () => {
      for (const one of samples) {
        await send(one).catch(({ message }: Error) => failed.set(message, one.bytes.toString('latin1', 0, SHOWN)));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    expect([...failed]).to.deep.equal([]);
  }).timeout(180_000);

  it('then answers a valid request, with no upstream request pending', async () => {
    const connection = openConnection(running.url);
    connection.send(SOUND);
    expect((await connection.receive()).json()).to.deep.equal({ jsonrpc: '2.0', id: 'sound', result: {} });
    await eventually(() => waiting.size === 0);
    expect(running.gateway.breakers['tools']).to.equal('closed');
  });

  it('closes with no connection left', async () => {
    expect(await running.gateway.close()).to.equal(true);
    await eventually(() => openSockets() <= socketsBefore + 1);
  });

  it('had no internal error, and logged neither a token nor a body', () => {
    const lines = log.lines();
    expect(lines.length).to.be.greaterThan(TOTAL / 2);
    expect(lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
    const outcomes = new Set(lines.map(({ outcome }) => String(outcome)));
    expect(OUR_FAULT.filter((outcome) => outcomes.has(outcome))).to.deep.equal([]);
    expect(MET.filter((outcome) => !outcomes.has(outcome))).to.deep.equal([]);
    expect(log.text().includes(TOKEN), 'the token').to.equal(false);
    expect(log.text().includes(MARK), 'a body').to.equal(false);
  });
});

/** TCP connections of this process; the platform's listener counts as another kind. */
function openSockets(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;
}
