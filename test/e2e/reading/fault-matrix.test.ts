import { expect } from 'chai';
import { type CapturedLog, captureLog } from '../../core/log/captured-log.ts';
import { eventually } from '../../support/eventually.ts';
import { type RunningGateway, settingsFor, startGateway, TOKEN } from '../../support/gateway.ts';
import { responds, says, WORDS } from '../../support/platform/faults.ts';
import { type RawUpstream, startRawUpstream } from '../../support/platform/raw-upstream.ts';
import { FAULTS, type FaultRow, LIMITS } from './fault-matrix.ts';

/** `timeoutMs` for what lasts that long, and for the rest, which has half of it. */
const TIMEOUT_MS = { slow: 600, quick: 8000 };
/** How much later an answer may come on a machine that has much else to do. */
const LATE_MS = 4000;

/** Calls that make the breaker open, more than half of them failures; no row adds as many. */
const MINIMUM_CALLS = 10;

describe('a platform with a fault', () => {
  for (const [title, rows] of Object.entries(FAULTS)) {
    describe(title, () => {
      for (const row of rows) describe(`it ${row[0]}`, () => drive(row));
    });
  }
});

function drive([, fault, [answer, asked, breaker, connection, stale]]: FaultRow): void {
  const timeoutMs = answer.includes('timeoutMs') ? TIMEOUT_MS.slow : TIMEOUT_MS.quick;
  let clock = 1_800_000_000_000;
  let log: CapturedLog;
  let platform: RawUpstream;
  let running: RunningGateway;

  // One gateway for three tests: each has a resource, and that an upstream with its own breaker and connections.
  before(async () => {
    log = captureLog();
    platform = await startRawUpstream();
    const { maxPageBytes, maxPages } = LIMITS;
    const settings = settingsFor(platform.url, {
      upstream: {
        timeoutMs,
        maxPageBytes,
        connections: 1,
        rememberRejectedMs: 0,
        retry: { baseDelayMs: 10 },
        breaker: { minimumCalls: MINIMUM_CALLS, windowMs: 600_000, openMs: 600_000 },
      },
      resources: { projects: { maxPages }, workflows: { maxPages, cache: { ttlMs: 0 } }, tools: { maxPages } },
    });
    running = await startGateway(settings, { logger: log.logger, now: () => clock });
  });

  after(async () => {
    const drained = await running.gateway.close();
    expect(drained).to.equal(true);
    expect(log.lines().filter(({ level }) => level === 'error')).to.deep.equal([]);
    expect(log.text()).to.not.contain(TOKEN).and.not.contain(WORDS);
  });

  it(`leads to ${answer} after ${asked} requests, with its connection ${connection}`, async () => {
    await platform.behave(fault);
    const before = platform.attempts();
    const begun = performance.now();
    expect(await read('projects', begun)).to.equal(answer);
    const ms = performance.now() - begun;
    expect(ms).to.be.below(answer.includes('timeoutMs') ? timeoutMs + LATE_MS : timeoutMs / 2);
    expect(platform.attempts() - before).to.equal(asked);
    const connections = platform.connections();
    await platform.behave(responds);
    expect(await read('projects')).to.equal('200');
    expect(platform.connections() === connections ? 'kept' : 'closed').to.equal(connection);
  });

  it(`counts for its breaker as: ${breaker}`, async () => {
    await platform.behave(fault);
    await read('workflows');
    await platform.behave(says('500 No'));
    let more = 0;
    while (more <= 2 * MINIMUM_CALLS && !(await read('workflows')).startsWith('503 breaker_open')) more += 1;
    expect(running.gateway.breakers).to.deep.equal({ projects: 'closed', workflows: 'open', tools: 'closed' });
    const windows = log.lines().filter(({ msg }) => msg === 'breaker');
    expect(windows).to.have.length(1);
    const [{ calls, failures }] = windows as [{ calls: number; failures: number }];
    expect(inWords(calls - failures, failures - more)).to.equal(breaker);
  });

  it(`leaves a stale list ${stale}`, async () => {
    await platform.behave(responds);
    const held = await (await running.read('tools')).text();
    clock += 600_000;
    await platform.behave(fault);
    if (stale === 'not served') {
      expect(await read('tools')).to.equal(answer);
      return;
    }
    const given = await running.read('tools');
    expect(given.status).to.equal(200);
    expect(await given.text()).to.equal(held);
    const said = given.headers.get('cache-status') ?? '';
    if (stale === 'replaced') {
      expect(said).to.equal('portico; fwd=stale; stored');
    } else {
      const [, code = ''] = answer.split(/[ ,]/);
      const status = '(?:fwd-status=\\d{3}; )?';
      expect(said).to.match(new RegExp(`^portico; fwd=stale; ${status}ttl=-540; detail=${code.replaceAll('_', '-')}$`));
      const [, line] = await eventually(async () => {
        const lines = (await log.access(0)).filter(({ resource }) => resource === 'tools');
        return lines.length === 2 && lines;
      });
      expect(line).to.include({ level: 'warn', outcome: 'ok', staleFor: code, upstream: 'tools' });
    }
  });

  /** One read as the table says it, of one that began then. */
  async function read(name: string, begun = performance.now()): Promise<string> {
    const response = await running.read(name);
    const text = await response.text();
    const after = performance.now() - begun < timeoutMs * 0.98 ? '' : ' after timeoutMs';
    if (response.status === 200) {
      expect(JSON.parse(text)).to.have.length(1);
      return '200';
    }
    expect(text).to.not.contain(TOKEN).and.not.contain(WORDS);
    const { code, status, upstream } = JSON.parse(text);
    expect({ status, upstream }).to.deep.equal({ status: response.status, upstream: name });
    const wait = response.headers.get('retry-after');
    return `${status} ${code}${after}${wait === null ? '' : `, Retry-After ${wait}`}`;
  }
}

/** What a read added to the window, as the table says it. */
function inWords(successes: number, failures: number): string {
  if (successes + failures === 1) return successes === 1 ? 'success' : 'failure';
  const words = [];
  if (successes > 0) words.push(`${successes} ${successes === 1 ? 'success' : 'successes'}`);
  if (failures > 0) words.push(`${failures} ${failures === 1 ? 'failure' : 'failures'}`);
  return words.join(', ');
}
