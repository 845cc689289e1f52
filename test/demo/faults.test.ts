import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { FAULT_KINDS, type FaultKind } from '../../src/demo/faults.ts';
import { get, getPage, withPlatform } from './lists.ts';
import { openRequest } from './wire.ts';

/** Runs `work` with the list of a tools API that has this fault. */
function withFault(kind: FaultKind, work: (list: string) => Promise<void>): Promise<void> {
  return withPlatform(async ({ tools }) => {
    const { status } = await fetch(`${tools}/demo/fault?kind=${kind}`, { method: 'PUT' });
    expect(status).to.equal(200);
    await work(`${tools}/v1/tools`);
  });
}

describe('a fault of a demo API', () => {
  const errors = [
    { kind: 'error', status: 500, headers: {} },
    { kind: 'unavailable', status: 503, headers: { 'retry-after': '2' } },
    { kind: 'rate-limit', status: 429, headers: { 'retry-after': '2' } },
    {
      kind: 'unauthorized',
      status: 401,
      headers: { 'www-authenticate': 'Bearer realm="demo", error="invalid_token"' },
    },
    { kind: 'forbidden', status: 403, headers: {} },
    { kind: 'redirect', status: 302, headers: { location: 'https://sso.example/login' } },
  ] as const;
  for (const { kind, status, headers } of errors) {
    it(`${kind}: answers ${status}`, () =>
      withFault(kind, async (list) => {
        const response = await fetch(list, { headers: { Authorization: 'Bearer demo-alice' }, redirect: 'manual' });
        expect(response.status).to.equal(status);
        expect(Object.fromEntries(response.headers)).to.include(headers);
        expect(await response.json()).to.have.nested.property('error.code', status);
      }));
  }

  it('reset: resets the connection before any response', () =>
    withFault('reset', async (list) => {
      expect(await openRequest(list).ended).to.deep.equal({ text: '', error: 'ECONNRESET' });
    }));

  it('stall: keeps the connection and sends nothing', () =>
    withFault('stall', async (list) => {
      const { socket, ended } = openRequest(list);
      expect(await Promise.race([ended, sleep(200, 'silence')])).to.equal('silence');
      socket.destroy();
      expect(await ended).to.deep.equal({ text: '', error: undefined });
    }));

  it('slow-body: sends the headers, then the page byte by byte', () =>
    withFault('slow-body', async (list) => {
      const { socket, received } = openRequest(list);
      while (!received().includes('{\r\n1\r\n"\r\n1\r\nt\r\n')) await once(socket, 'data');
      expect(received()).to.match(/^HTTP\/1\.1 200 OK\r\nContent-Type: application\/json\r\n/);
      socket.destroy();
    }));

  it('cut-short: ends the connection in the middle of the announced body', () =>
    withFault('cut-short', async (list) => {
      const { text, error } = await openRequest(list).ended;
      const [head = '', body = ''] = text.split('\r\n\r\n');
      const announced = Number(/Content-Length: (\d+)/.exec(head)?.[1]);
      expect(error).to.equal(undefined);
      expect(body).to.match(/^\{"tools":\[/);
      expect(body.length).to.equal(Math.floor(announced / 2));
    }));

  it('garbage: answers 200 with a web page', () =>
    withFault('garbage', async (list) => {
      const response = await get(list);
      expect(response.status).to.equal(200);
      expect(response.headers.get('content-type')).to.equal('text/html');
      expect(await response.text()).to.match(/^<!doctype html>/);
    }));

  it('invalid-item: adds an item without a name to each page', () =>
    withFault('invalid-item', async (list) => {
      const { tools } = (await (await get(list)).json()) as { tools: object[] };
      expect(tools).to.have.length(6);
      expect(tools[0]).to.have.property('name', '');
    }));

  it('loop: names the same page as the next one for ever', () =>
    withFault('loop', async (list) => {
      const urls = { projects: '', workflows: '', tools: new URL(list).origin };
      const first = await getPage(urls, 'tools');
      const token = String(first.nextPageToken);
      expect(token).not.to.equal('');
      expect(await getPage(urls, 'tools', { pageToken: token })).to.deep.equal(first);
    }));

  it('leaves a wrong credential and a wrong query as they are', () =>
    withFault('error', async (list) => {
      expect(await get(list, 'demo-eve')).to.have.property('status', 401);
      expect(await get(`${list}?pageToken=x`)).to.have.property('status', 400);
    }));

  it('survives a client that hangs up, in each kind', () =>
    withPlatform(async ({ tools }) => {
      await fetch(`${tools}/demo/latency?ms=20`, { method: 'PUT' });
      for (const kind of FAULT_KINDS) {
        await fetch(`${tools}/demo/fault?kind=${kind}`, { method: 'PUT' });
        const { socket: early } = openRequest(`${tools}/v1/tools`);
        await once(early, 'connect');
        early.destroy();
        const { socket: late } = openRequest(`${tools}/v1/tools`);
        await sleep(40);
        late.destroy();
      }
      await fetch(`${tools}/demo`, { method: 'DELETE' });
      expect(await get(`${tools}/v1/tools`)).to.have.property('status', 200);
    }));
});
