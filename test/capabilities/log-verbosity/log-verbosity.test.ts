import { expect } from 'chai';
import {
  type AdjustableLogger,
  createVerbosity,
  type Verbosity,
} from '../../../src/capabilities/log-verbosity/log-verbosity.ts';
import { logEvents } from '../../../src/core/log/log.ts';
import { createGateway } from '../../../src/gateway.ts';
import { captureLog } from '../../core/log/captured-log.ts';
import { onCleanup } from '../../support/cleanup.ts';
import { eventually } from '../../support/eventually.ts';
import { settingsFor } from '../../support/gateway.ts';
import { exchange, get, requestText } from '../../support/raw-http.ts';

const USUAL = { level: 'info', requestIds: [] };

async function startAdmin(admin: object = {}) {
  const log = captureLog('info');
  const settings = { ...settingsFor('http://127.0.0.1:9'), admin: { port: 0, ...admin } };
  const gateway = createGateway(settings, { logger: log.logger });
  onCleanup(() => gateway.close());
  const url = await gateway.start();
  const adminUrl = gateway.adminUrl ?? expect.fail('no admin listener');
  const put = (body: string, fields: Readonly<Record<string, string>> = {}) =>
    exchange(
      adminUrl,
      requestText('PUT', '/log', { 'Content-Length': String(Buffer.byteLength(body)), ...fields }) + body,
    );
  const state = async () => (await exchange(adminUrl, get('/log', { Authorization: undefined }))).json();
  return { ...log, gateway, settings, url, adminUrl, put, state };
}

describe('/log of the admin listener', () => {
  it('shows the level of the log, and changes it for a while', async () => {
    const { put, state, adminUrl, lines } = await startAdmin();
    expect(await state()).to.deep.equal(USUAL);
    const answer = await put('{"level":"debug","requestIds":["r-1"],"forMs":60000}');
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('cache-control')).to.equal('no-store');
    expect(answer.json()).to.deep.include({ level: 'debug', requestIds: ['r-1'] });
    expect((await state()).remainingMs).to.be.within(1, 60_000);
    const before = lines().length;
    await exchange(adminUrl, get('/livez'));
    expect(
      lines()
        .slice(before)
        .map(({ route, level }) => [route, level]),
    ).to.deep.include(['/livez', 'debug']);
    expect((await put('{"level":"warn"}')).json().remainingMs, 'the default').to.be.within(590_000, 600_000);
    expect((await put('{}')).json()).to.deep.equal(USUAL);
  });

  for (const [what, body] of Object.entries({
    'no JSON': '{',
    'no object': '"debug"',
    nothing: '',
    'an unknown key': '{"levels":"debug"}',
    'an unknown level': '{"level":"all"}',
    'a level at which nobody could tell': '{"level":"silent"}',
    'an id that no request has': '{"requestIds":["a b"]}',
    'more requests than a person names': JSON.stringify({ requestIds: Array(17).fill('r') }),
    'no time at all': '{"level":"debug","forMs":0}',
    'more than a day': '{"level":"debug","forMs":86400001}',
    'a value that is not taken': '{"level":{"__proto__":"debug"}}',
  })) {
    it(`refuses ${what}, repeats nothing of it, and changes nothing`, async () => {
      const { put, state } = await startAdmin();
      const { status, body: told } = await put(body);
      expect(status).to.equal(400);
      const { code, detail } = JSON.parse(told.toString());
      expect({ code, detail }).to.deep.equal({
        code: 'invalid_request',
        detail:
          'The body must be JSON such as {"level":"debug","requestIds":["…"],"forMs":600000}; omitted members are as in the settings.',
      });
      expect(await state()).to.deep.equal(USUAL);
    });
  }

  it('reads 16 KiB at most', async () => {
    const { put } = await startAdmin();
    expect((await put(`{"level":"warn"${' '.repeat(16_384)}}`)).json()).to.include({ status: 413, code: 'too_large' });
  });

  it('is not for a web page, nor for another host name that was made to lead here', async () => {
    const { put, adminUrl, state } = await startAdmin({
      host: '0.0.0.0',
      allowedHosts: ['evil.example', 'evil.example:*'],
    });
    const { port } = new URL(adminUrl);
    const page = { Host: `localhost:${port}`, Origin: 'https://evil.example' };
    expect((await put('{"level":"debug"}', page)).json()).to.include({ status: 403, code: 'origin_refused' });
    const rebound = { Host: `evil.example:${port}`, Origin: `http://evil.example:${port}` };
    expect((await put('{"level":"debug"}', rebound)).status).to.equal(403);
    const plain = await put('{"level":"debug"}', { Host: `evil.example:${port}` });
    expect(plain.json()).to.include({ status: 403, code: 'access_denied' });
    expect((await exchange(adminUrl, get('/log', { Host: 'evil.example' }))).status).to.equal(403);
    expect(await state()).to.deep.equal(USUAL);
  });

  it('keeps a level over a reload until its time is over, and takes that of settings otherwise', async () => {
    const { put, state, gateway, settings } = await startAdmin();
    const levelNow = async () => (await state()).level;
    gateway.change({ ...settings, log: { level: 'warn' } });
    expect(await levelNow()).to.equal('warn');
    await put('{"level":"debug"}');
    gateway.change({ ...settings, log: { level: 'error' } });
    expect(await levelNow()).to.equal('debug');
    await put('{}');
    expect(await levelNow()).to.equal('error');
  });
});

function verboseLog(level: 'info' | 'warn' | 'silent' = 'info') {
  const captured = captureLog(level);
  let now = 0;
  const verbosity = createVerbosity(captured.logger as AdjustableLogger, () => now);
  const events = logEvents(captured.logger, verbosity);
  return {
    ...captured,
    verbosity,
    /** Messages of what is written of one page that was fetched for this request, and of its end. */
    told(requestId: string): unknown[] {
      const before = captured.lines().length;
      events.pageFetched?.({ requestId, upstream: 'tools', method: 'GET', ms: 1, bytes: 2, status: 200 });
      events.requestEnded?.({ edge: 'http', requestId, begun: 0, ms: 0, outcome: 'ok', bytes: 0 });
      return captured
        .lines()
        .slice(before)
        .map(({ msg }) => msg);
    },
    pass(ms: number) {
      now += ms;
    },
  };
}

/** Ends what a test has begun, so that its timer holds nothing. */
const reset = (verbosity: Verbosity) => verbosity.change({ forMs: 1000 });

describe('the verbosity of the log', () => {
  it('has more or fewer lines for all requests; a change replaces the one before', () => {
    const { verbosity, told } = verboseLog();
    expect(told('r-1')).to.deep.equal(['request']);
    verbosity.change({ level: 'debug', forMs: 60_000 });
    expect(told('r-1')).to.deep.equal(['page fetched', 'request']);
    verbosity.change({ level: 'error', requestIds: ['r-2'], forMs: 60_000 });
    expect(told('r-1')).to.deep.equal([]);
    expect(told('r-2')).to.deep.equal(['page fetched', 'request']);
    reset(verbosity);
    expect(told('r-2')).to.deep.equal(['request']);
  });

  it('is restored after the time of the change', async () => {
    const { verbosity, told, lines } = verboseLog();
    verbosity.change({ level: 'error', forMs: 1 });
    verbosity.change({ level: 'debug', requestIds: ['r-1'], forMs: 60 });
    await eventually(() => verbosity.state().remainingMs === undefined);
    const restored = lines().filter(({ msg }) => msg === 'log level restored from settings');
    expect(restored).to.have.length(1);
    expect(restored[0]).to.include({ level: 'warn', logLevel: 'info' });
    expect(told('r-1')).to.deep.equal(['request']);
  });

  it('reports each change, whatever the level', () => {
    const { verbosity, lines } = verboseLog('silent');
    verbosity.change({ level: 'error', requestIds: ['r-1'], forMs: 60_000 });
    expect(lines()).to.have.length(1);
    expect(lines()[0]).to.deep.include({
      level: 'warn',
      logLevel: 'error',
      requestIds: ['r-1'],
      remainingMs: 60_000,
      msg: 'log level changed',
    });
    reset(verbosity);
  });
});
