import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { FAULT_KINDS, type FaultKind } from '../../src/demo/faults.ts';
import { eventually } from '../support/eventually.ts';
import { get, getPage, openRequest, withPlatform } from './lists.ts';

/** Runs `work` with the list of a tools API that has this fault. */
function withFault(kind: FaultKind, work: (list: string) => Promise<void>): Promise<void> {
  return withPlatform(async ({ tools }) => {
    expect(await send('PUT', `${tools}/demo/fault?kind=${kind}`)).to.have.property('status', 200);
    await work(`${tools}/v1/tools`);
  });
}

async function send(method: string, url: string) {
  const response = await fetch(url, { method });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const CHALLENGE = 'Bearer realm="demo", error="invalid_token"';

describe('a fault of a demo API', () => {
  const answers = [
    { kind: 'error', status: 500, headers: {}, text: /"code":500/ },
    { kind: 'unavailable', status: 503, headers: { 'retry-after': '2' }, text: /"code":503/ },
    { kind: 'rate-limit', status: 429, headers: { 'retry-after': '2' }, text: /"code":429/ },
    { kind: 'unauthorized', status: 401, headers: { 'www-authenticate': CHALLENGE }, text: /"code":401/ },
    { kind: 'forbidden', status: 403, headers: {}, text: /"code":403/ },
    { kind: 'redirect', status: 302, headers: { location: 'https://sso.example/login' }, text: /"code":302/ },
    { kind: 'garbage', status: 200, headers: { 'content-type': 'text/html' }, text: /^<!doctype html>/ },
    {
      kind: 'invalid-item',
      status: 200,
      headers: {},
      text: /^\{"tools":\[\{"id":"nameless","name":""\},(?:\{[^}]*\},?){5}\]/,
    },
  ] as const;
  for (const { kind, status, headers, text } of answers) {
    it(`${kind}: answers ${status}`, () =>
      withFault(kind, async (list) => {
        const response = await fetch(list, { headers: { Authorization: 'Bearer demo-alice' }, redirect: 'manual' });
        expect(response.status).to.equal(status);
        expect(Object.fromEntries(response.headers)).to.include(headers);
        expect(await response.text()).to.match(text);
      }));
  }

  it('reset: resets the connection before any response', () =>
    withFault('reset', async (list) => {
      const { responses, rest, error } = await openRequest(list).closed();
      expect([responses, `${rest}`, error]).to.deep.equal([[], '', 'ECONNRESET']);
    }));

  it('stall: keeps the connection and sends nothing', () =>
    withFault('stall', async (list) => {
      const { closed, unfinished } = openRequest(list);
      expect(await Promise.race([closed(), sleep(200, 'silence')])).to.equal('silence');
      expect(`${unfinished()}`).to.equal('');
    }));

  it('slow-body: sends the headers, then the page byte by byte', () =>
    withFault('slow-body', async (list) => {
      const { unfinished } = openRequest(list);
      await eventually(() => `${unfinished()}`.includes('{\r\n1\r\n"\r\n1\r\nt\r\n'));
      expect(`${unfinished()}`).to.match(/^HTTP\/1\.1 200 OK\r\nContent-Type: application\/json\r\n/);
    }));

  it('cut-short: ends the connection in the middle of the announced body', () =>
    withFault('cut-short', async (list) => {
      const { rest, error } = await openRequest(list).closed();
      const [head = '', body = ''] = `${rest}`.split('\r\n\r\n');
      expect(error).to.equal(undefined);
      expect(body).to.match(/^\{"tools":\[/);
      expect(body.length).to.equal(Math.floor(Number(/Content-Length: (\d+)/.exec(head)?.[1]) / 2));
    }));

  it('loop: names the same page as the next one for ever', () =>
    withFault('loop', async (list) => {
      const urls = { projects: '', workflows: '', tools: new URL(list).origin };
      const first = await getPage(urls, 'tools');
      const token = String(first.nextPageToken);
      expect(token).not.to.equal('');
      expect(await getPage(urls, 'tools', { pageToken: token })).to.deep.equal(first);
    }));
});

describe('the controls of a demo API', () => {
  it('switch fault and latency on and off, each by itself, and both off at once', () =>
    withPlatform(async (urls) => {
      const state = async (method: string, path: string) => {
        const { status, body } = await send(method, `${urls.tools}${path}`);
        expect(status).to.equal(200);
        return [body['fault'], body['latencyMs']];
      };
      expect(await state('PUT', '/demo/fault?kind=error')).to.deep.equal(['error', 0]);
      expect(await state('PUT', '/demo/fault?kind=loop')).to.deep.equal(['loop', 0]);
      expect(await state('PUT', '/demo/latency?ms=60000')).to.deep.equal(['loop', 60_000]);
      expect(await state('DELETE', '/demo/fault')).to.deep.equal([null, 60_000]);
      expect(await state('DELETE', '/demo/latency')).to.deep.equal([null, 0]);
      await state('PUT', '/demo/fault?kind=stall');
      await state('PUT', '/demo/latency?ms=60000');
      expect(await state('DELETE', '/demo')).to.deep.equal([null, 0]);
      const { body } = await send('GET', `${urls.tools}/demo`);
      expect(body).to.deep.equal({ api: 'tools', fault: null, latencyMs: 0, faultKinds: [...FAULT_KINDS] });
    }));

  it('refuse an unknown fault, and a latency that is no whole number of milliseconds within a minute', () =>
    withPlatform(async (urls) => {
      for (const [control, queries, said] of [
        ['fault', ['', '?kind=', '?kind=explode', '?kind=toString', '?kind=ERROR'], FAULT_KINDS.join(', ')],
        ['latency', ['', '?ms=', '?ms=-1', '?ms=1.5', '?ms=soon', '?ms=60001', '?ms=1e3'], 'from 0 to 60000'],
      ] as const) {
        for (const query of queries) {
          const { status, body } = await send('PUT', `${urls.tools}/demo/${control}${query}`);
          expect(status, query).to.equal(400);
          expect(JSON.stringify(body)).to.contain(said).and.not.to.contain('explode');
        }
      }
      expect((await send('GET', `${urls.tools}/demo`)).body).to.include({ fault: null, latencyMs: 0 });
    }));

  it('delay the list', () =>
    withPlatform(async (urls) => {
      await send('PUT', `${urls.tools}/demo/latency?ms=150`);
      const begun = performance.now();
      expect(await get(`${urls.tools}/v1/tools`)).to.have.property('status', 200);
      expect(performance.now() - begun).to.be.at.least(140);
    }));
});
