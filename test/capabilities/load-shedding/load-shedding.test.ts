import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createShedding, shedLoad } from '../../../src/capabilities/load-shedding/load-shedding.ts';
import { captureLog } from '../../core/log/captured-log.ts';
import { standStill } from '../../support/a-while.ts';
import { eventually } from '../../support/eventually.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { toolItem } from '../../support/platform/loads.ts';
import { exchange, get, requestText } from '../../support/raw-http.ts';

const LIST = '/mcp/v1/resources';
const READ = `${LIST}/read?uri=platform://tools`;
const MAX_DELAY_MS = 50;

/** Holds up the event loop in each of its turns, until `work` is done. */
async function whileBusy<T>(work: () => Promise<T>): Promise<T> {
  let isDone = false;
  const working = work().finally(() => {
    isDone = true;
  });
  while (!isDone) {
    standStill(3 * MAX_DELAY_MS);
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

  it('ends with the first delay below half of the bound, and can start again', () => {
    expect(added(101, 101, 101, 99, 50, 49)).to.deep.equal([false, false, true, true, true, false]);
    expect(added(101, 101, 101, 49, 101, 101, 101)).to.deep.equal([false, false, true, false, false, false, true]);
  });
});

describe('a watch over the event loop', () => {
  it('ignores a single long pause', async () => {
    const { preAuthenticate, start, stop } = shedLoad(MAX_DELAY_MS);
    await start();
    standStill(10 * MAX_DELAY_MS);
    await sleep(1);
    preAuthenticate();
    await stop();
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
