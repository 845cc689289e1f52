import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { createOverload, createShedding } from '../../../src/capabilities/load-shedding/overload.ts';
import { captureLog } from '../../core/log/captured-log.ts';
import { eventually } from '../../support/eventually.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { toolItem } from '../../support/platform/loads.ts';
import { exchange, get, requestText } from '../../support/raw-http.ts';
import { SEED } from '../../support/seed.ts';

const LIST = '/mcp/v1/resources';
const READ = `${LIST}/read?uri=platform://tools`;
const MAX_DELAY_MS = 50;

/** Holds up the event loop, without taking a processor. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Holds it up in each of its turns, until `work` is done. */
async function whileBusy<T>(work: () => Promise<T>): Promise<T> {
  let isDone = false;
  const working = work().finally(() => {
    isDone = true;
  });
  while (!isDone) {
    block(3 * MAX_DELAY_MS);
    await sleep(1);
  }
  return working;
}

describe('shedding', () => {
  const added = (...delays: number[]) => {
    const shedding = createShedding(100);
    return delays.map((delayMs) => {
      shedding.add(delayMs);
      return shedding.isOn;
    });
  };

  it('starts with the third delay in a row that is above the bound', () => {
    expect(added(101, 101, 101)).to.deep.equal([false, false, true]);
    expect(added(101, 101, 100, 101, 101, 101)).to.deep.equal([false, false, false, false, false, true]);
  });

  it('does not start for one delay, however long', () => {
    expect(added(60_000, 99, 60_000, 60_000, 0)).to.deep.equal([false, false, false, false, false]);
  });

  it('goes off with the first delay below half of the bound, and not before', () => {
    expect(added(101, 101, 101, 99, 50, 49, 99)).to.deep.equal([false, false, true, true, true, false, false]);
  });

  it(`is on only since three delays in a row, and is off after any short one (SEED=${SEED})`, () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 200 })), (delays) => {
        for (const [index, isOn] of added(...delays).entries()) {
          const short = delays.slice(0, index + 1).findLastIndex((delayMs) => delayMs < 50);
          const since = delays.slice(short + 1, index + 1);
          const wentOn = since.some((_, at) => {
            const three = since.slice(at, at + 3);
            return three.length === 3 && three.every((delayMs) => delayMs > 100);
          });
          expect(isOn).to.equal(wentOn);
        }
      }),
      { seed: SEED },
    );
  });
});

describe('a watch over the event loop', () => {
  it('is not there where the bound is 0', () => {
    expect(createOverload(0)).to.equal(undefined);
  });

  it('ignores a single long pause', async () => {
    const overload = createOverload(MAX_DELAY_MS);
    overload?.watch();
    block(10 * MAX_DELAY_MS);
    await sleep(1);
    overload?.check();
    overload?.stop();
  });

  it('measures nothing any more once it was stopped', async () => {
    const overload = createOverload(MAX_DELAY_MS);
    overload?.watch();
    overload?.stop();
    await whileBusy(() => sleep(10 * MAX_DELAY_MS));
    overload?.check();
  });
});

describe('a gateway whose event loop is late', () => {
  it('refuses reads and MCP before any work, answers probes and public pages, and accepts reads again once it has caught up', async () => {
    const platform = await startHttpUpstream(lists({ tools: [toolItem('one')] }));
    const log = captureLog();
    const settings = settingsFor(platform.url, { admin: { port: 0 }, mcp: { publicLists: true } });
    const http = { ...settings.http, maxEventLoopDelayMs: MAX_DELAY_MS };
    const { gateway, url } = await startGateway({ ...settings, http }, { logger: log.logger });
    const fields = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
    const post = (more = {}) => requestText('POST', '/mcp', { ...fields, ...more }, '{"jsonrpc":"2.0","id":1}');

    const { refused, answered } = await whileBusy(async () => {
      await eventually(async () => (await exchange(url, get(LIST))).status === 503);
      const requests = [get(READ), get(LIST), post(), post({ Authorization: undefined })];
      return {
        refused: await Promise.all(requests.map((request) => exchange(url, request))),
        answered: await Promise.all([
          ...['/livez', '/readyz', '/openapi.json'].map((path) => exchange(url, get(path))),
          ...['/livez', '/readyz'].map((path) => exchange(gateway.adminUrl ?? '', get(path))),
        ]),
      };
    });
    expect(platform.requests).to.deep.equal([]);
    for (const response of refused) {
      expect(response.status).to.equal(503);
      expect(response.headers.get('Retry-After')).to.equal('1');
      expect(response.headers.get('Connection')).to.equal('keep-alive');
      expect(response.json()).to.include({ code: 'overloaded', title: 'Overloaded' });
    }
    expect(answered.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200]);
    const told = log.lines().filter(({ msg }) => msg === 'limit reached');
    expect(told.length).to.be.at.least(refused.length);
    for (const { bound } of told) expect(bound).to.equal('http.maxEventLoopDelayMs');
    const lines = log.lines().filter(({ outcome }) => outcome === 'overloaded');
    expect(lines.length).to.equal(told.length);
    for (const { reason } of lines) expect(reason).to.match(/^the event loop was \d+ ms late$/);

    const { status } = await eventually(async () => {
      const response = await exchange(url, get(READ));
      return response.status !== 503 && response;
    });
    expect(status).to.equal(200);
  });
});
