import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import fc from 'fast-check';
import { atDepth } from '../../support/depth.ts';
import { eventually } from '../../support/eventually.ts';
import { type RunningGateway, settingsFor, startGateway } from '../../support/gateway.ts';
import { type HttpUpstream, listOf, startHttpUpstream, tokenOf } from '../../support/platform/http-upstream.ts';
import { SEED, SEEDED } from '../../support/seed.ts';
import { captureLog } from '../log/captured-log.ts';
import { type Broken, brokenRequests, SOUND } from './fuzz/broken-requests.ts';
import { judge } from './fuzz/judge.ts';
import { openLane, sendBroken } from './fuzz/lane.ts';
import { MARK } from './fuzz/messages.ts';
import { framed, type Request, requests, TOKEN } from './fuzz/requests.ts';

const TOTAL = atDepth(5000, 20_000);
const BROKEN = TOTAL * 0.4;
/** Samples that are made in one go. */
const SLICE = 2000;
/** Most of what is broken waits a second: for a body that does not end. */
const CONNECTIONS = 128;
const LANES = 16;
const SHOWN = 2000;
const PONG = { jsonrpc: '2.0', id: 'sound', result: {} };

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

describe('POST /mcp with random input', () => {
  const log = captureLog();
  const waiting = new Set<ServerResponse>();
  let platform: HttpUpstream;
  let running: RunningGateway;
  let socketsBefore: number;

  before(async () => {
    socketsBefore = openSockets();
    platform = await startHttpUpstream((request, response) => {
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

  /** Calls `work` with each of `count` samples, several at once. Returns one sample for each kind of failure. */
  async function each<T>({ samples, count, atOnce, show, work }: Round<T>): Promise<string[]> {
    const failed = new Map<string, string>();
    for (let done = 0; done < count; done += SLICE) {
      const slice = fc.sample(samples, { numRuns: Math.min(SLICE, count - done), seed: SEED + done }).values();
      const take = async (lane: number) => {
        for (const one of slice) await work(one, lane).catch((error: Error) => failed.set(error.message, show(one)));
      };
      await Promise.all(Array.from({ length: atOnce }, (_, lane) => take(lane)));
    }
    return [...failed].map((pair) => pair.join(', for '));
  }

  const quote = (bytes: Buffer) => JSON.stringify(bytes.toString('latin1', 0, SHOWN));

  async function sendFramed(): Promise<string[]> {
    const lanes = Array.from({ length: LANES }, () => openLane(running.url));
    const failed = await each({
      samples: requests,
      count: TOTAL - BROKEN,
      atOnce: LANES,
      show: (request: Request) => quote(framed(request)),
      work: async (request, lane) => {
        const answer = await lanes[lane]?.ask(framed(request));
        if (answer !== undefined) judge(answer, request.body);
      },
    });
    for (const lane of lanes) lane.close();
    return failed;
  }

  function sendBrokenOnes(): Promise<string[]> {
    return each({
      samples: brokenRequests,
      count: BROKEN,
      atOnce: CONNECTIONS,
      show: ({ pieces, ending }: Broken) => `${ending} ${quote(Buffer.concat(pieces))}`,
      work: async (broken) => {
        const { responses, rest, error } = await sendBroken(running.url, broken);
        if (error?.startsWith('wrong')) throw new Error(error);
        for (const response of responses) judge(response);
        if (broken.ending !== 'reset') expect(rest.toString('latin1'), 'wrong: half an answer').to.equal('');
      },
    });
  }

  it(`answers ${TOTAL} requests, or closes the connection ${SEEDED}`, async function () {
    this.timeout(180_000);
    expect((await Promise.all([sendFramed(), sendBrokenOnes()])).flat()).to.deep.equal([]);
  });

  it('then answers a valid request, with no upstream request pending', async () => {
    const lane = openLane(running.url);
    expect(JSON.parse((await lane.ask(SOUND)).body.toString())).to.deep.equal(PONG);
    lane.close();
    await eventually(() => waiting.size === 0);
    expect(running.gateway.breakers['tools']).to.equal('closed');
  });

  it('closes within 5 s, with no connection left', async () => {
    const begun = performance.now();
    expect(await running.gateway.close()).to.equal(true);
    expect(performance.now() - begun).to.be.lessThan(5000);
    await eventually(() => openSockets() <= socketsBefore + 1);
  });

  it('had no internal error, and logged neither a token nor a body', () => {
    const lines = log.lines();
    expect(lines.length).to.be.greaterThan(TOTAL / 2);
    expect(lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
    expect(lines.filter(({ outcome }) => OUR_FAULT.includes(String(outcome)))).to.deep.equal([]);
    const met = new Set(lines.map(({ outcome }) => outcome));
    expect(MET.filter((outcome) => !met.has(outcome))).to.deep.equal([]);
    expect(log.text().includes(TOKEN), 'the token').to.equal(false);
    expect(log.text().includes(MARK), 'a body').to.equal(false);
  });
});

interface Round<T> {
  readonly samples: fc.Arbitrary<T>;
  readonly count: number;
  readonly atOnce: number;
  readonly show: (one: T) => string;
  readonly work: (one: T, lane: number) => Promise<void>;
}

/** TCP connections of this process; the platform's listener counts as another kind. */
function openSockets(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;
}
