import { expect } from 'chai';
import { createIntrospect } from '../../../src/capabilities/verification/introspection.ts';
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
    it(`has its endpoint looked up ${forgotten > 0 ? 'again' : 'once'} if ${what}`, async () => {
      let times = 0;
      const introspect = createIntrospect({
        issuer: {
          fetchJson: () => Promise.reject(unavailable('the issuer could not be reached', cause)),
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
});
