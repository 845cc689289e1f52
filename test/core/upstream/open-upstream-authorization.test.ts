import { expect } from 'chai';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import { type Authorize, type Refused, withAuthorization } from '../../../src/core/upstream/open-upstream.ts';
import type { PageRequest, Upstream } from '../../../src/core/upstream/upstream.ts';
import { asking, calm, rejection } from './harness.ts';
import { PAGE } from './scripted.ts';

function authorizing(authorize: Authorize, refused?: Refused, errors: readonly Error[] = []) {
  const asked: PageRequest<unknown>[] = [];
  const inner: Upstream = {
    name: 'projects',
    async get(request) {
      const error = errors[asked.length];
      asked.push(request);
      if (error !== undefined) throw error;
      return { page: await request.read(Buffer.from('[]'), {}), headers: {} };
    },
    close: async () => {},
  };
  return { upstream: withAuthorization(inner, authorize, refused), asked };
}

describe('an upstream with authorization', () => {
  it('receives the authorized request headers, and all else unchanged', async () => {
    const granted = Promise.withResolvers<Record<string, string>>();
    const { upstream, asked } = authorizing(() => granted.promise);
    const request = asking('/list');
    const reading = upstream.get(request, calm());
    expect(asked).to.deep.equal([]);
    granted.resolve({ authorization: 'Bearer exchanged' });
    expect(await reading).to.deep.equal(PAGE);
    expect(asked).to.deep.equal([{ ...request, authorization: { authorization: 'Bearer exchanged' } }]);
  });

  it('gives the authorization the caller and the deadline', async () => {
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

  it('is not called without authorization', async () => {
    const error = new GatewayError('credential_rejected');
    const { upstream, asked } = authorizing(() => Promise.reject(error));
    expect(await rejection(upstream.get(asking(), calm()))).to.equal(error);
    expect(asked).to.deep.equal([]);
  });
});

describe('an upstream that does not accept what it is given', () => {
  const refusal = new GatewayError('upstream_credential_rejected', { upstreamStatus: 401 });
  const OTHERS: Readonly<Record<string, Error>> = {
    "the caller's own token": new GatewayError('credential_rejected', { upstreamStatus: 401 }),
    'what may not read the list': new GatewayError('upstream_credential_rejected', { upstreamStatus: 403 }),
    'nothing, since another server refused Portico': new GatewayError('upstream_credential_rejected', {
      elsewhere: true,
    }),
    'something, and breaks off': new Error('reset'),
  };

  /** Gives something else each time, and says of each whether there is something better. */
  function giving(better: readonly boolean[], errors: readonly Error[]) {
    const told: unknown[] = [];
    let given = 0;
    const { upstream, asked } = authorizing(
      async () => {
        given += 1;
        return { authorization: `${given}` };
      },
      ({ key }, { authorization }) => {
        told.push([key, authorization]);
        return better[told.length - 1] ?? false;
      },
      errors,
    );
    const sent = () => asked.map((request) => request.authorization?.['authorization']);
    return { upstream, told, sent, resends: () => asked.map((request) => request.resends) };
  }

  it('is called once more with a new credential', async () => {
    const { upstream, told, sent, resends } = giving([true], [refusal]);
    expect(await upstream.get(asking(), calm())).to.deep.equal(PAGE);
    expect([told, sent()]).to.deep.equal([[['k', '1']], ['1', '2']]);
    expect(resends()).to.deep.equal([undefined, 1]);
  });

  it('is not called again without a new one', async () => {
    const { upstream, sent } = giving([false], [refusal]);
    expect(await rejection(upstream.get(asking(), calm()))).to.equal(refusal);
    expect(sent()).to.deep.equal(['1']);
  });

  it('is requested twice at most, and the authorization receives both outcomes', async () => {
    const { upstream, told, sent } = giving([true, true], [refusal, refusal, refusal]);
    expect(await rejection(upstream.get(asking(), calm()))).to.equal(refusal);
    expect([told.length, sent()]).to.deep.equal([2, ['1', '2']]);
  });

  for (const [what, error] of Object.entries(OTHERS)) {
    it(`is not called again with ${what}`, async () => {
      const { upstream, told, sent } = giving([true], [error]);
      expect(await rejection(upstream.get(asking(), calm()))).to.equal(error);
      expect([told, sent()]).to.deep.equal([[], ['1']]);
    });
  }
});
