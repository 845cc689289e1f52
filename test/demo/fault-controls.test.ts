import { expect } from 'chai';
import { FAULT_KINDS } from '../../src/demo/faults.ts';
import { get, withPlatform } from './lists.ts';

async function send(method: string, url: string) {
  const response = await fetch(url, { method });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe('the controls of a demo API', () => {
  it('show how the API behaves and which faults there are', () =>
    withPlatform(async (urls) => {
      const { status, body } = await send('GET', `${urls.workflows}/demo`);
      expect(status).to.equal(200);
      expect(body).to.deep.equal({ api: 'workflows', fault: null, latencyMs: 0, faultKinds: [...FAULT_KINDS] });
    }));

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
    }));

  it('concern one API and leave the others alone', () =>
    withPlatform(async (urls) => {
      await send('PUT', `${urls.tools}/demo/fault?kind=error`);
      expect(await get(`${urls.tools}/v1/tools`)).to.have.property('status', 500);
      expect(await get(`${urls.workflows}/v1/workflows`)).to.have.property('status', 200);
      expect(await get(`${urls.projects}/v1/projects`)).to.have.property('status', 200);
    }));

  it('refuse an unknown fault, naming those that there are, and change nothing', () =>
    withPlatform(async (urls) => {
      for (const query of ['', '?kind=', '?kind=explode', '?kind=toString', '?kind=ERROR']) {
        const { status, body } = await send('PUT', `${urls.tools}/demo/fault${query}`);
        expect(status, query).to.equal(400);
        expect(JSON.stringify(body)).to.contain(FAULT_KINDS.join(', ')).and.not.to.contain('explode');
      }
      expect((await send('GET', `${urls.tools}/demo`)).body).to.include({ fault: null });
    }));

  it('refuse a latency that is no whole number of milliseconds within a minute', () =>
    withPlatform(async (urls) => {
      for (const query of ['', '?ms=', '?ms=-1', '?ms=1.5', '?ms=soon', '?ms=60001', '?ms=1e3']) {
        const { status, body } = await send('PUT', `${urls.tools}/demo/latency${query}`);
        expect(status, query).to.equal(400);
        expect(JSON.stringify(body)).to.contain('from 0 to 60000');
      }
    }));

  it('delay the list', () =>
    withPlatform(async (urls) => {
      await send('PUT', `${urls.tools}/demo/latency?ms=150`);
      const begun = performance.now();
      expect(await get(`${urls.tools}/v1/tools`)).to.have.property('status', 200);
      expect(performance.now() - begun).to.be.at.least(140);
    }));
});
