import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { captureLog } from '../../core/log/captured-log.ts';
import { type RunningGateway, settingsFor, startGateway } from '../../support/gateway.ts';
import { type HttpUpstream, json, startHttpUpstream } from '../../support/platform/http-upstream.ts';

const CONNECTIONS = 8;
const DURATION_MS = 200;
const SECONDS = 3;
/** Reads that the platform can answer in a second. */
const CAPACITY = (CONNECTIONS * 1000) / DURATION_MS;
const TOKENS = 300;
/** Reason of a read that the queue refused for its time, on arrival or later. */
const LATE =
  /^queue: (?:the wait would be \d+ ms|its turn came too late); \d+ ms are usually needed, and \d+ ms are left$/;

describe('a platform with more reads than it can answer in time', () => {
  let platform: HttpUpstream;
  let running: RunningGateway;
  let log: ReturnType<typeof captureLog>;

  beforeEach(async () => {
    const page = json({ projects: [], nextPageToken: '' });
    const slowly = (...exchange: Parameters<typeof page>) => void setTimeout(page, DURATION_MS, ...exchange);
    platform = await startHttpUpstream(page, { record: false });
    log = captureLog();
    running = await startGateway(
      settingsFor(platform.url, { upstream: { connections: CONNECTIONS, timeoutMs: 2000 } }),
      { logger: log.logger },
    );
    for (let caller = 0; caller < TOKENS; caller += 1) await read(caller);
    platform.respond(slowly);
  });

  afterEach(async () => {
    await running.gateway.close();
    await platform.close();
  });

  async function read(caller: number): Promise<Response> {
    return running.read('projects', { headers: { authorization: `Bearer caller-${caller}` } });
  }

  it('answers as many as the platform can, and refuses the others with overloaded and Retry-After', async () => {
    const reads: Promise<Response>[] = [];
    const begun = performance.now();
    while (performance.now() - begun < SECONDS * 1000) {
      const due = ((performance.now() - begun) / 1000) * CAPACITY * 3;
      while (reads.length < due) reads.push(read(reads.length % TOKENS));
      await pause(5);
    }
    const answers = await Promise.all(reads);
    const codes = await Promise.all(
      answers.map(async (answer) => (answer.ok ? 'answered' : ((await answer.json()) as { code: string }).code)),
    );
    const count = (code: string) => codes.filter((each) => each === code).length;
    // Other processes make the platform slower than it should be.
    expect(count('answered')).to.be.at.least(0.75 * CAPACITY * SECONDS);
    expect(count('answered') + count('overloaded')).to.be.at.least(0.95 * answers.length);
    expect(count('breaker_open')).to.equal(0);
    for (const { status, headers } of answers) {
      if (status === 503) expect(Number(headers.get('retry-after'))).to.be.at.least(1);
    }
    const reasons = log
      .lines()
      .filter(({ outcome }) => outcome === 'overloaded')
      .map(({ reason }) => `${reason}`);
    expect(reasons).to.have.length(count('overloaded'));
    expect(reasons.filter((reason) => !LATE.test(reason))).to.deep.equal([]);
  });
});
