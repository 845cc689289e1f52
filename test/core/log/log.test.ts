import { expect } from 'chai';
import type { RequestRecord } from '../../../src/core/kernel/caller.ts';
import { ERRORS, type ErrorCode } from '../../../src/core/kernel/error-table.ts';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import type { Events } from '../../../src/core/kernel/events.ts';
import { captureLog } from './captured-log.ts';

const request = (more: Partial<RequestRecord> = {}): RequestRecord => ({
  ...{ edge: 'http', requestId: 'r-1', startedAt: 0, ms: 20.04, outcome: 'ok', bytes: 0 },
  ...more,
});

/** The line that one event makes, without its time. */
function lineOf(tell: (events: Events) => void): Record<string, unknown> | undefined {
  const { events, lines } = captureLog();
  tell(events);
  const [line, ...others] = lines();
  expect(others).to.deep.equal([]);
  if (line !== undefined) delete line['time'];
  return line;
}

describe('the log of a request', () => {
  it('has the facts of the request, and the beginning of the key of its caller', () => {
    const facts = {
      ...{ method: 'POST', route: '/mcp', rpc: 'tools/call', tool: 'list_installed_tools', resource: 'tools' },
      ...{ status: 200, bytes: 812, cache: 'miss', traceId: '4bf92f3577b34da6a3ce929d0e0e4736' },
    } as const;
    const client = { name: 'a', version: '1', revision: '2026-07-28' };
    const own = { upstreamMs: 12.345, callerKey: 'abcdefghijklmnop', client: { ...client, userAgent: undefined } };
    const shown = { level: 'info', msg: 'request', outcome: 'ok', ms: 20, requestId: 'r-1' };
    expect(lineOf((events) => events.requestEnded?.(request({ ...facts, ...own })))).to.deep.equal({
      ...{ ...facts, ...shown, upstreamMs: 12.3, caller: 'abcdefghijkl', client },
    });
    // What is absent is left out.
    expect(lineOf((events) => events.requestEnded?.(request()))).to.deep.equal({ ...shown, bytes: 0 });
  });

  it("has the reason of its failure, in codes and Portico's own words", () => {
    // What is no name and no code, and has no end.
    const hostile = Object.assign(new Error(), { name: 'what the upstream said', code: 'x'.repeat(65) });
    hostile.cause = hostile;
    const socket = Object.assign(new RangeError('connect secret', { cause: hostile }), { code: 'ECONNREFUSED' });
    const cause = Object.assign(new TypeError('fetch failed', { cause: socket }), { code: 404 });
    const error = new GatewayError('upstream_timeout', { upstream: 'tools', reason: 'it is not there', cause });
    expect(lineOf((events) => events.requestEnded?.(request({ outcome: error.code, error })))).to.deep.include({
      outcome: 'upstream_timeout',
      upstream: 'tools',
      reason: 'it is not there',
      causes: ['TypeError', 'RangeError ECONNREFUSED', 'Error', 'Error', 'Error'],
    });
    const plain = new GatewayError('uri_missing');
    expect(lineOf((events) => events.requestEnded?.(request({ error: plain })))).not.to.have.any.keys(
      ...['upstream', 'causes', 'error'],
    );
  });

  it('has the bound that was reached as its reason, and the title or reason of the error table for any other error', () => {
    const reasonOf = (error: GatewayError) =>
      lineOf((events) => events.requestEnded?.(request({ outcome: error.code, error })))?.['reason'];
    expect(reasonOf(new GatewayError('draining'))).to.equal(ERRORS.draining.title);
    expect(reasonOf(new GatewayError('host_refused'))).to.equal(ERRORS.host_refused.reason);
    expect(reasonOf(new GatewayError('too_large', { bound: 'mcp.maxBodyBytes' }))).to.equal(
      'mcp.maxBodyBytes is reached',
    );
  });

  for (const outcome of ['caller_gone', 'cancelled', 'response_unread', 'overloaded', 'draining', 'cut']) {
    it(`has a reason where the outcome without a response is ${outcome}`, () => {
      expect(lineOf((events) => events.requestEnded?.(request({ outcome })))?.['reason']).to.match(/\w/);
    });
  }

  it('is at warn where it failed with a code of 5xx, at error where that is a bug, and at info otherwise', () => {
    for (const [code, { status }] of Object.entries(ERRORS)) {
      const error = new GatewayError(code as ErrorCode);
      const level = code === 'internal' ? 'error' : status >= 500 ? 'warn' : 'info';
      for (const route of [undefined, '/mcp']) {
        const line = lineOf((events) => events.requestEnded?.(request({ route, outcome: code, error })));
        expect(line, code).to.include({ level, outcome: code });
      }
    }
  });

  it('is at warn for a stale list, with the error that it replaced', () => {
    const staleFor = new GatewayError('upstream_refused', { upstream: 'tools', reason: 'answered with status 400' });
    expect(lineOf((events) => events.requestEnded?.(request({ cache: 'stale', staleFor })))).to.include({
      ...{ level: 'warn', outcome: 'ok', cache: 'stale', staleFor: 'upstream_refused' },
      ...{ upstream: 'tools', reason: 'answered with status 400' },
    });
  });

  it('is at debug where it is a probe', () => {
    for (const route of ['/livez', '/readyz']) {
      expect(lineOf((events) => events.requestEnded?.(request({ route })))).to.include({ level: 'debug', route });
      const { events, text } = captureLog('info');
      events.requestEnded?.(request({ route }));
      expect(text()).to.equal('');
    }
  });
});

describe('the log of an event', () => {
  const breaker = { upstream: 'tools', calls: 20, failures: 12 };
  const cause = new TypeError('secret');
  const gone = new GatewayError('upstream_timeout', { upstream: 'tools', reason: 'slow', cause });
  const list = { resource: 'tools', upstream: 'platform', pages: 2, items: 7, received: 7, excluded: 0 };
  const loaded = { ...list, defaulted: new Map() };
  const ours = { requestId: 'r-1', upstream: 'tools' };
  const page = { ...ours, method: 'GET', bytes: 5, status: 200 } as const;
  const refresh = { requestId: 'r-1', resource: 'tools' };
  const retry = { ...ours, retries: 1 };
  const timeout = { outcome: 'upstream_timeout', reason: 'slow' };
  const internal = { outcome: 'internal', reason: ERRORS.internal.title };
  const rejected = { outcome: 'credential_rejected', reason: ERRORS.credential_rejected.title };
  const stuck = { command: 'set', outcome: 'full', ms: 1 } as const;

  /** Declares that an event has a line at this level, with its own facts or with `fields`. */
  function says<E extends keyof Events>(
    what: string,
    level: string,
    event: E,
    facts: Parameters<NonNullable<Events[E]>>[0],
    fields: object = facts ?? {},
  ) {
    it(`has one line of ${what}`, () => {
      const { msg, ...line } = lineOf((events) => (events[event] as (of: unknown) => void)(facts)) ?? {};
      expect(msg).to.be.a('string');
      expect(line).to.deep.equal(JSON.parse(JSON.stringify({ level, ...fields })));
    });
  }

  const bug = { requestId: 'r-1', traceId: undefined, stack: 'Error: x\n at y' };
  says('a bug', 'error', 'internalError', bug);
  says('a breaker that opens', 'warn', 'breakerChanged', { ...breaker, state: 'open' });
  says('a breaker that tries', 'info', 'breakerChanged', { ...breaker, state: 'half-open' });
  says('a breaker that closes', 'info', 'breakerChanged', { ...breaker, state: 'closed' });
  for (const [what, level, error, fields] of [
    ['failed', 'warn', gone, { ...timeout, upstream: 'tools', causes: ['TypeError'] }],
    ['was rejected', 'info', new GatewayError('credential_rejected'), rejected],
    ['met a bug of the table', 'error', new GatewayError('internal'), internal],
    ['met a bug', 'error', cause, { outcome: 'internal', error: 'TypeError' }],
    ['threw no error', 'error', 'secret', { outcome: 'internal', error: 'string' }],
  ] as const) {
    const facts = { ...refresh, error };
    says(`a refresh that ${what}`, level, 'refreshFailed', facts, { ...refresh, ...fields });
  }
  says(
    'items that were dropped',
    'warn',
    'listLoaded',
    { ...loaded, dropped: 2 },
    {
      ...{ resource: 'tools', upstream: 'platform', items: 7, dropped: 2 },
    },
  );
  says('a whole drain', 'info', 'drained', { whole: true }, {});
  says('a drain in part', 'warn', 'drained', { whole: false }, {});
  const full = { error: Object.assign(new Error('secret'), { code: 'EMFILE' }) };
  says('a listener that failed', 'error', 'listenerFailed', full, { error: 'Error EMFILE' });
  says('a page', 'debug', 'pageFetched', { ...page, ms: 1.234 }, { ...page, ms: 1.2 });
  says('a retry', 'debug', 'retried', { ...retry, delayMs: 17.77 }, { ...retry, delayMs: 17.8 });
  says('certificates from their files', 'info', 'filesChanged', { block: 'http.tls' });
  const unusable = { block: 'admin.tls', key: 'certFile', issue: 'is empty' };
  says('an unusable certificate', 'warn', 'filesChanged', unusable);
  says('Redis that is there', 'info', 'sharedStoreChanged', { isUp: true }, {});
  const away = { isUp: false, why: 'ECONNREFUSED' } as const;
  says('Redis that is away', 'warn', 'sharedStoreChanged', away, { reason: 'ECONNREFUSED' });
  const refused = { command: 'set', outcome: 'full' };
  says('a command that Redis refuses', 'warn', 'sharedCommandEnded', stuck, refused);
});

describe('the log', () => {
  it('escapes what a reader does not see in the texts of a client, and parses to them', () => {
    const { events, text: written } = captureLog('info');
    const client = { name: '"\u0600👩\u200d💻\x7f\n', version: '\\', userAgent: undefined, revision: undefined };
    for (let times = 0; times < 2; times += 1) events.requestEnded?.(request({ client }));
    const text = written();
    expect(text).to.match(/^[\n -~\u{1F000}-\u{1FFFF}]*$/u);
    const lines = text.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).client)).to.deep.equal(
      Array(2).fill({ name: client.name, version: '\\' }),
    );
  });
});
