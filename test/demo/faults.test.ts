import { expect } from 'chai';
import { FAULT_KINDS, type FaultKind } from '../../src/demo/faults.ts';
import { captureLog } from '../core/log/captured-log.ts';
import { as } from '../support/authorization/caller.ts';
import { settingsFor, startGateway } from '../support/gateway.ts';
import { get, withPlatform } from './lists.ts';

async function send(method: string, url: string) {
  const response = await fetch(url, { method });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** What a read through Portico ends with, and its reason in the log. */
const READS: Readonly<Record<FaultKind, readonly [code: string, reason: string]>> = {
  error: ['upstream_failed', 'answered with status 500'],
  unavailable: ['upstream_failed', 'answered with status 503'],
  'rate-limit': ['upstream_rate_limited', 'answered with status 429'],
  unauthorized: ['credential_rejected', 'answered with status 401'],
  forbidden: ['access_denied', 'answered with status 403'],
  redirect: ['upstream_failed', 'answered with status 302'],
  reset: ['upstream_failed', 'the connection was lost'],
  stall: ['upstream_timeout', 'the response did not begin in time'],
  garbage: ['upstream_invalid', 'the page is not JSON: it is markup, such as HTML'],
  'invalid-item': ['upstream_invalid', 'field name of item 0 is required and empty'],
  loop: ['upstream_invalid', 'ids occur more than once (10 items have 5 distinct ids)'],
};

describe('a fault of a demo API', () => {
  for (const [kind, expected] of Object.entries(READS)) {
    it(`ends a read with ${expected.join(': ')}: ${kind}`, () =>
      withPlatform(async ({ tools }) => {
        expect(await send('PUT', `${tools}/demo?fault=${kind}`)).to.have.property('status', 200);
        const log = captureLog();
        const upstream = { timeoutMs: 500, retry: { attempts: 0 } };
        const { read } = await startGateway(settingsFor(tools, { upstream }), { logger: log.logger });
        const { code } = (await (await read('tools', as('demo-alice'))).json()) as { code: string };
        const { reason } = log.lines().find(({ msg }) => msg === 'request') ?? {};
        expect(code).to.equal(expected[0]);
        expect(reason).to.contain(expected[1]);
      }));
  }
});

describe('the controls of a demo API', () => {
  it('set fault and latency, and reset what is left out', () =>
    withPlatform(async (urls) => {
      for (const [query, state] of [
        ['?fault=error', { fault: 'error', latencyMs: 0 }],
        ['?fault=loop&latencyMs=60000', { fault: 'loop', latencyMs: 60_000 }],
        ['', { fault: null, latencyMs: 0 }],
      ] as const) {
        const { body } = await send('PUT', `${urls.tools}/demo${query}`);
        expect(body).to.deep.equal({ api: 'tools', ...state, faultKinds: [...FAULT_KINDS] });
        expect(await send('GET', `${urls.tools}/demo`)).to.deep.equal({ status: 200, body });
      }
    }));

  it('refuse an unknown fault, and a latency that is no whole number of milliseconds within a minute', () =>
    withPlatform(async (urls) => {
      for (const [name, values, said] of [
        ['fault', ['', 'explode', 'toString', 'ERROR'], FAULT_KINDS.join(', ')],
        ['latencyMs', ['-1', '1.5', 'soon', '60001'], 'from 0 to 60000'],
      ] as const) {
        for (const value of values) {
          const { status, body } = await send('PUT', `${urls.tools}/demo?${name}=${value}`);
          expect(status, value).to.equal(400);
          expect(JSON.stringify(body)).to.contain(said).and.not.to.contain('explode');
        }
      }
      expect((await send('GET', `${urls.tools}/demo`)).body).to.include({ fault: null, latencyMs: 0 });
    }));

  it('delay the list', () =>
    withPlatform(async (urls) => {
      await send('PUT', `${urls.tools}/demo?latencyMs=150`);
      const begun = performance.now();
      expect(await get(`${urls.tools}/v1/tools`)).to.have.property('status', 200);
      expect(performance.now() - begun).to.be.at.least(140);
    }));
});
