import { expect } from 'chai';
import { createIntrospect } from '../../../src/capabilities/verification/introspection.ts';
import { createIssuer } from '../../../src/capabilities/verification/issuer.ts';
import { unavailable } from '../../../src/capabilities/verification/outcome.ts';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import { errorOf } from './scenery.ts';

describe('introspection', () => {
  for (const [what, cause, forgotten] of [
    ['it answers with an error', new Error('404'), 1],
    ['it fails so often that it is given a pause', new GatewayError('breaker_open'), 1],
    ['it does not answer', new GatewayError('upstream_failed'), 0],
    ['it is late', new GatewayError('upstream_timeout'), 0],
  ] as const) {
    it(`is ${forgotten > 0 ? '' : 'not '}introspected again if ${what}`, async () => {
      let times = 0;
      const introspect = createIntrospect({
        issuer: {
          fetchJson: async () => {
            throw unavailable('the issuer could not be reached', cause);
          },
          endpoint: async () => 'https://login.example/introspect',
          forget() {
            times += 1;
          },
        },
        ...{ name: 'https://login.example', audience: 'a', leewayMs: 0, now: Date.now },
        authorization: async () => 'Basic Og==',
      });
      expect((await errorOf(introspect('token')))[0]).to.equal('verifier_unavailable');
      expect(times).to.equal(forgotten);
    });
  }

  it('reports that the breaker is open, and when to retry', async () => {
    const { fetchJson } = createIssuer({
      issuer: 'https://login.example',
      send: async () => {
        throw new GatewayError('breaker_open', { retryAfterSeconds: 7 });
      },
      timeoutMs: 60_000,
    });
    const error = await fetchJson('https://login.example/introspect').catch((thrown: unknown) => thrown);
    expect(error).to.include({
      code: 'verifier_unavailable',
      reason: 'the issuer failed repeatedly and is not called for a while',
      retryAfterSeconds: 7,
    });
  });
});
