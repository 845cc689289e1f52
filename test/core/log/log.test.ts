import { expect } from 'chai';
import { pino } from 'pino';
import type { RequestRecord } from '../../../src/core/kernel/caller.ts';
import { ERRORS, type ErrorCode } from '../../../src/core/kernel/error-table.ts';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import type { Events } from '../../../src/core/kernel/events.ts';
import { logEvents } from '../../../src/core/log/log.ts';
import { createLogger, type Level, type Logger } from '../../../src/core/log/logger.ts';
import { captureLog } from './captured-log.ts';

const request = (more: Partial<RequestRecord> = {}): RequestRecord => ({
  edge: 'http',
  requestId: 'r-1',
  begun: 0,
  ms: 20.04,
  outcome: 'ok',
  bytes: 0,
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
    const line = lineOf((events) =>
      events.requestEnded?.(
        request({
          method: 'POST',
          route: '/mcp',
          rpc: 'tools/call',
          tool: 'list_installed_tools',
          resource: 'tools',
          status: 200,
          bytes: 812,
          upstreamMs: 12.345,
          cache: 'miss',
          callerKey: 'abcdefghijklmnop',
          client: { name: 'a', version: '1', userAgent: undefined, revision: '2026-07-28' },
          traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
        }),
      ),
    );
    expect(line).to.deep.equal({
      level: 'info',
      msg: 'request',
      method: 'POST',
      route: '/mcp',
      rpc: 'tools/call',
      tool: 'list_installed_tools',
      resource: 'tools',
      status: 200,
      outcome: 'ok',
      ms: 20,
      upstreamMs: 12.3,
      cache: 'miss',
      bytes: 812,
      caller: 'abcdefghijkl',
      client: { name: 'a', version: '1', revision: '2026-07-28' },
      requestId: 'r-1',
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
    });
  });

  it('omits absent facts', () => {
    expect(lineOf((events) => events.requestEnded?.(request()))).to.have.all.keys(
      ...['level', 'msg', 'outcome', 'ms', 'bytes', 'requestId'],
    );
  });

  it("has the reason of its failure, in codes and Portico's own words", () => {
    const cause = Object.assign(new Error('connect ECONNREFUSED secret'), { code: 'ECONNREFUSED' });
    const error = new GatewayError('upstream_timeout', { upstream: 'tools', reason: 'it is not there', cause });
    expect(lineOf((events) => events.requestEnded?.(request({ outcome: error.code, error })))).to.deep.include({
      outcome: 'upstream_timeout',
      upstream: 'tools',
      reason: 'it is not there',
      causes: ['Error ECONNREFUSED'],
    });
    const plain = new GatewayError('uri_missing');
    expect(lineOf((events) => events.requestEnded?.(request({ error: plain })))).not.to.have.any.keys(
      ...['upstream', 'causes', 'error'],
    );
  });

  it('has the bound that was reached as its reason, and that of the error table for any other error', () => {
    const reasonOf = (error: GatewayError) =>
      lineOf((events) => events.requestEnded?.(request({ outcome: error.code, error })))?.['reason'];
    for (const [code, { reason }] of Object.entries(ERRORS)) {
      expect(reasonOf(new GatewayError(code as ErrorCode)), code).to.equal(reason);
    }
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
        expect(
          lineOf((events) => events.requestEnded?.(request({ route, outcome: code, error }))),
          code,
        ).to.include({
          level,
          outcome: code,
        });
      }
    }
  });

  it('is at warn for a stale list, with the error that it replaced', () => {
    const staleFor = new GatewayError('upstream_refused', { upstream: 'tools', reason: 'answered with status 400' });
    expect(lineOf((events) => events.requestEnded?.(request({ cache: 'stale', staleFor })))).to.include({
      level: 'warn',
      outcome: 'ok',
      cache: 'stale',
      staleFor: 'upstream_refused',
      upstream: 'tools',
      reason: 'answered with status 400',
    });
  });

  it('is written at or above the level of the logger', () => {
    const written = (level: 'error' | 'warn' | 'info') => {
      const { events, lines } = captureLog(level);
      for (const code of ['internal', 'upstream_failed', 'uri_missing'] as const) {
        events.requestEnded?.(request({ outcome: code, error: new GatewayError(code) }));
      }
      events.requestEnded?.(request());
      return lines().map(({ outcome }) => outcome);
    };
    expect(written('error')).to.deep.equal(['internal']);
    expect(written('warn')).to.deep.equal(['internal', 'upstream_failed']);
    expect(written('info')).to.deep.equal(['internal', 'upstream_failed', 'uri_missing', 'ok']);
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

describe('the log of mapping warnings', () => {
  it('has the same one of a resource once a minute', () => {
    const { logger, lines } = captureLog();
    let now = 0;
    const events = logEvents(logger, { now: () => now });
    const tell = (resource: string, field?: string) =>
      events.mappingWarning?.({
        resource,
        upstream: 'platform',
        ...(field === undefined ? { finding: 'nothing_left' } : { finding: 'field_empty', field }),
      });
    for (now of [0, 59_999, 60_000, 119_999]) {
      tell('tools');
      tell('tools', 'category');
      tell('tools', 'version');
      tell('workflows');
    }
    expect(lines()).to.have.length(8);
    expect(lines()[1]).to.include({
      level: 'warn',
      msg: 'mapping warning',
      finding: 'field_empty',
      field: 'category',
    });
  });

  it('has a change of a list once, and again after a minute when it happens again', () => {
    const { logger, lines } = captureLog();
    let now = 0;
    const events = logEvents(logger, { now: () => now });
    const warning = { resource: 'tools', upstream: 'platform', finding: 'field_lost', field: 'version' } as const;
    for (const [at, isRepeated] of [
      [0, false],
      [60_000, true],
      [120_000, true],
      [180_000, false],
      [180_001, false],
    ] as const) {
      now = at;
      events.mappingWarning?.({ ...warning, isRepeated });
    }
    expect(lines()).to.have.length(2);
    expect(lines()[1])
      .to.include({ level: 'warn', ...warning })
      .and.not.to.have.property('isRepeated');
  });
});

describe('the log of an event', () => {
  const bug = { requestId: 'r-1', traceId: undefined, stack: 'Error: x\n    at y' };
  const breaker = { upstream: 'tools', calls: 20, failures: 12 };
  const gone = new GatewayError('upstream_timeout', {
    upstream: 'tools',
    reason: 'slow',
    cause: new TypeError('secret'),
  });
  const list = {
    resource: 'tools',
    upstream: 'platform',
    pages: 2,
    items: 7,
    received: 7,
    excluded: 0,
    defaulted: new Map(),
  };
  const drainedInPart = 'drained in part: requests were cut off after shutdown.graceMs';

  const cases: Readonly<Record<string, readonly [(events: Events) => void, object]>> = {
    'of a bug': [
      (events) => events.internalError?.(bug),
      { level: 'error', requestId: 'r-1', stack: bug.stack, msg: 'internal error' },
    ],
    'of a breaker that opens': [
      (events) => events.breakerChanged?.({ ...breaker, state: 'open' }),
      { level: 'warn', ...breaker, state: 'open', msg: 'breaker' },
    ],
    'of a breaker that tries': [
      (events) => events.breakerChanged?.({ ...breaker, state: 'half-open' }),
      { level: 'info', ...breaker, state: 'half-open', msg: 'breaker' },
    ],
    'of a breaker that closes': [
      (events) => events.breakerChanged?.({ ...breaker, state: 'closed' }),
      { level: 'info', ...breaker, state: 'closed', msg: 'breaker' },
    ],
    'of a refresh that failed': [
      (events) => events.refreshFailed?.({ requestId: 'r-1', resource: 'tools', error: gone }),
      {
        level: 'warn',
        resource: 'tools',
        outcome: 'upstream_timeout',
        upstream: 'tools',
        reason: 'slow',
        causes: ['TypeError'],
        requestId: 'r-1',
        msg: 'refresh failed',
      },
    ],
    'of a refresh whose token is good no more': [
      (events) =>
        events.refreshFailed?.({ requestId: 'r-1', resource: 'tools', error: new GatewayError('credential_rejected') }),
      {
        ...{ level: 'info', resource: 'tools', outcome: 'credential_rejected' },
        ...{ reason: ERRORS.credential_rejected.reason, requestId: 'r-1', msg: 'refresh failed' },
      },
    ],
    'of a refresh that met a bug of the table': [
      (events) => events.refreshFailed?.({ requestId: 'r-1', resource: 'tools', error: new GatewayError('internal') }),
      {
        ...{ level: 'error', resource: 'tools', outcome: 'internal' },
        ...{ reason: ERRORS.internal.reason, requestId: 'r-1', msg: 'refresh failed' },
      },
    ],
    'of a refresh that met a bug': [
      (events) => events.refreshFailed?.({ requestId: 'r-1', resource: 'tools', error: new TypeError('secret') }),
      {
        level: 'error',
        resource: 'tools',
        outcome: 'internal',
        error: 'TypeError',
        requestId: 'r-1',
        msg: 'refresh failed',
      },
    ],
    'of a refresh that threw no error': [
      (events) => events.refreshFailed?.({ requestId: 'r-1', resource: 'tools', error: 'secret' }),
      {
        level: 'error',
        resource: 'tools',
        outcome: 'internal',
        error: 'string',
        requestId: 'r-1',
        msg: 'refresh failed',
      },
    ],
    'of items that were dropped': [
      (events) => events.listLoaded?.({ ...list, dropped: 2 }),
      { level: 'warn', resource: 'tools', upstream: 'platform', items: 7, dropped: 2, msg: 'items dropped' },
    ],
    'of the start': [
      (events) => events.listening?.({ url: 'http://127.0.0.1:1', adminUrl: undefined, resources: ['tools'] }),
      { level: 'info', url: 'http://127.0.0.1:1', resources: ['tools'], msg: 'listening' },
    ],
    'of a signal': [
      (events) => events.draining?.({ signal: 'SIGTERM' }),
      { level: 'info', signal: 'SIGTERM', msg: 'draining' },
    ],
    'of a whole drain': [(events) => events.drained?.({ whole: true }), { level: 'info', msg: 'drained' }],
    'of a drain in part': [(events) => events.drained?.({ whole: false }), { level: 'warn', msg: drainedInPart }],
    'of fewer connections than settings allow': [
      (events) => events.connectionsCapped?.({ maxConnections: 64, configured: 10_000, maxDescriptors: 256 }),
      {
        ...{ level: 'warn', maxConnections: 64, configured: 10_000, maxDescriptors: 256 },
        msg: 'connections capped by the limit of open files',
      },
    ],
    'of connections beyond what may be': [
      (events) => events.connectionsRefused?.({ maxConnections: 3 }),
      { level: 'warn', maxConnections: 3, msg: 'connections refused' },
    ],
    'of a listener that failed': [
      (events) => events.listenerFailed?.({ error: Object.assign(new Error('secret'), { code: 'EMFILE' }) }),
      { level: 'error', error: 'Error EMFILE', msg: 'listener error' },
    ],
    'of a page': [
      (events) =>
        events.pageFetched?.({ requestId: 'r-1', upstream: 'tools', method: 'GET', ms: 1.234, bytes: 5, status: 200 }),
      {
        level: 'debug',
        upstream: 'tools',
        method: 'GET',
        ms: 1.2,
        bytes: 5,
        status: 200,
        requestId: 'r-1',
        msg: 'page fetched',
      },
    ],
    'of a retry': [
      (events) => events.retried?.({ requestId: 'r-1', upstream: 'tools', retries: 1, delayMs: 17.77 }),
      { level: 'debug', upstream: 'tools', retries: 1, delayMs: 17.8, requestId: 'r-1', msg: 'retry' },
    ],
    'of a call that was refused': [
      (events) => events.callRefused?.({ requestId: 'r-1', upstream: 'tools', code: 'breaker_open' }),
      { level: 'debug', upstream: 'tools', code: 'breaker_open', requestId: 'r-1', msg: 'call refused' },
    ],
    'of a read that waits for the load of another': [
      (events) => events.flightJoined?.({ requestId: 'r-2', resource: 'tools' }),
      { level: 'debug', requestId: 'r-2', resource: 'tools', msg: 'flight joined' },
    ],
    'of a bound that was reached': [
      (events) => events.limitReached?.({ bound: 'maxReadBytes', upstream: 'tools' }),
      { level: 'debug', bound: 'maxReadBytes', upstream: 'tools', msg: 'limit reached' },
    ],
    'of an upstream that sends what it was not asked for': [
      (events) => events.unsolicitedResponse?.({ upstream: 'tools' }),
      { level: 'warn', upstream: 'tools', msg: 'unsolicited upstream response' },
    ],
    'of a secret that was taken from its file': [
      (events) => events.secretChanged?.({ upstream: 'tools', issue: undefined }),
      { level: 'info', upstream: 'tools', msg: 'secret reloaded' },
    ],
    'of a secret file that cannot be used': [
      (events) => events.secretChanged?.({ upstream: 'tools', issue: 'is empty' }),
      { level: 'warn', upstream: 'tools', issue: 'is empty', msg: 'secret file unusable' },
    ],
    'of certificates that were taken from their files': [
      (events) => events.tlsFilesChanged?.({ block: 'http.tls' }),
      { level: 'info', block: 'http.tls', msg: 'certificates reloaded' },
    ],
    'of a certificate file that cannot be used': [
      (events) => events.tlsFilesChanged?.({ block: 'admin.tls', key: 'certFile', issue: 'is empty' }),
      { level: 'warn', block: 'admin.tls', key: 'certFile', issue: 'is empty', msg: 'certificate files unusable' },
    ],
    'of a shared store that is there': [
      (events) => events.sharedStoreChanged?.({ isUp: true }),
      { level: 'info', msg: 'Redis connected' },
    ],
    'of a shared store that is away': [
      (events) => events.sharedStoreChanged?.({ isUp: false, why: 'stalled' }),
      { level: 'warn', reason: 'stalled', msg: 'Redis unavailable' },
    ],
    'of a shared store that says why it is away': [
      (events) => events.sharedStoreChanged?.({ isUp: false, why: 'failing', error: 'MOVED' }),
      { level: 'warn', error: 'MOVED', reason: 'failing', msg: 'Redis unavailable' },
    ],
    'of commands that a full Redis refuses, once a minute': [
      (events) => {
        for (const command of ['lease', 'put', 'count']) {
          events.sharedCommandEnded?.({ command, outcome: 'failed', reason: 'full', ms: 1 });
          events.sharedCommandEnded?.({ command, outcome: 'timeout', reason: 'stalled', ms: 1 });
        }
      },
      { level: 'warn', command: 'lease', reason: 'full', msg: 'Redis refuses commands' },
    ],
    'of a handshake that failed': [
      (events) => events.handshakeFailed?.({ code: 'ERR_SSL_HTTP_REQUEST' }),
      { level: 'debug', code: 'ERR_SSL_HTTP_REQUEST', msg: 'handshake failed' },
    ],
    'of a snapshot that was let go of': [
      (events) => events.snapshotEvicted?.({ requestId: 'r-1', resource: 'tools', code: 'access_denied' }),
      { level: 'debug', resource: 'tools', code: 'access_denied', requestId: 'r-1', msg: 'snapshot evicted' },
    ],
  };
  for (const [name, [tell, line]] of Object.entries(cases)) {
    it(`has one line ${name}`, () => {
      expect(lineOf(tell)).to.deep.equal(line);
    });
  }

  it('has none of a list that was loaded whole', () => {
    expect(lineOf((events) => events.listLoaded?.({ ...list, dropped: 0 }))).to.equal(undefined);
  });
});

describe('the log', () => {
  it('escapes what a reader does not see in the texts of a client, and parses to them', () => {
    let text = '';
    const write = (line: string) => {
      text += line;
    };
    const events = logEvents(
      createLogger({ level: 'info', destination: { write, flushSync() {}, droppedLines: () => 0 } }),
    );
    const client = { name: '"\u0600👩\u200d💻\x7f\n', version: '\\', userAgent: undefined, revision: undefined };
    for (let times = 0; times < 2; times += 1) events.requestEnded?.(request({ client }));
    expect(text).to.match(/^[\n -~\u{1F000}-\u{1FFFF}]*$/u);
    const lines = text.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).client)).to.deep.equal(
      Array(2).fill({ name: client.name, version: '\\' }),
    );
  });

  it('leaves out what is below the level of its logger at the time', () => {
    const { events, logger, lines } = captureLog('error');
    const tell = () => {
      for (const code of ['internal', 'upstream_failed', 'uri_missing'] as const) {
        events.requestEnded?.(request({ outcome: code, error: new GatewayError(code) }));
      }
      events.requestEnded?.(request());
      events.pageFetched?.({ requestId: 'r-1', upstream: 'tools', method: 'GET', ms: 1, bytes: 5, status: 200 });
      return lines().splice(0).length;
    };
    expect(tell()).to.equal(1);
    logger.level = 'debug';
    expect(tell()).to.equal(1 + 5);
    logger.level = 'silent';
    expect(tell()).to.equal(1 + 5);
  });

  it('is written by any pino logger, and by one without a level', () => {
    let text = '';
    const write = (line: string) => {
      text += line;
    };
    const own: Logger = pino({ level: 'warn' }, { write });
    logEvents(own).listening?.({ url: 'http://127.0.0.1:1', resources: [] });
    expect(text).to.equal('');
    logEvents(own).connectionsRefused?.({ maxConnections: 3 });
    expect(JSON.parse(text)).to.include({ maxConnections: 3, msg: 'connections refused' });
    const captured = captureLog('warn');
    const { logger } = captured;
    const to = (level: Level) => (fields: object | string, message?: string) => {
      if (typeof fields === 'object') logger[level](fields, message ?? '');
    };
    const [debug, info, warn, error, fatal] = (['debug', 'info', 'warn', 'error', 'fatal'] as const).map(to);
    const without = logEvents({ debug, info, warn, error, fatal } as Logger);
    without.requestEnded?.(request({ error: new GatewayError('upstream_failed') }));
    expect(captured.lines()).to.have.length(1);
  });
});
