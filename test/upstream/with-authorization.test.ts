import { expect } from 'chai';
import { GatewayError } from '../../src/kernel/errors.ts';
import type { PageRequest, Upstream } from '../../src/upstream/upstream.ts';
import { type Authorize, withAuthorization } from '../../src/upstream/with-authorization.ts';
import { asking, calm, rejection } from './harness.ts';
import { PAGE } from './scripted.ts';

function authorizing(authorize: Authorize) {
  const asked: PageRequest<unknown>[] = [];
  const inner: Upstream = {
    name: 'projects',
    async get(request) {
      asked.push(request);
      return { page: await request.read(Buffer.from('[]'), {}), headers: {} };
    },
    close: async () => {},
  };
  return { upstream: withAuthorization(inner, authorize), asked };
}

describe('an upstream with authorization', () => {
  it('is asked with what tells it who asks, once that is known, and with all else as it is', async () => {
    const granted = Promise.withResolvers<Record<string, string>>();
    const { upstream, asked } = authorizing(() => granted.promise);
    const request = asking('/list');
    const reading = upstream.get(request, calm());
    expect(asked).to.deep.equal([]);
    granted.resolve({ authorization: 'Bearer exchanged' });
    expect(await reading).to.deep.equal(PAGE);
    expect(asked).to.deep.equal([{ ...request, authorization: { authorization: 'Bearer exchanged' } }]);
  });

  it('lets whoever authorizes know the caller, and when it is too late', async () => {
    const seen: unknown[] = [];
    const { upstream } = authorizing(async (...given) => {
      seen.push(...given);
      return {};
    });
    const request = asking();
    const signal = calm();
    await upstream.get(request, signal);
    expect(seen[0]).to.equal(request.caller);
    expect(seen[1]).to.equal(signal);
  });

  it('is not asked where there is no authorization', async () => {
    const error = new GatewayError('credential_rejected');
    const { upstream, asked } = authorizing(() => Promise.reject(error));
    expect(await rejection(upstream.get(asking(), calm()))).to.equal(error);
    expect(asked).to.deep.equal([]);
  });
});
