import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { withAuthorization } from '../../../../src/core/upstream/resilience/with-authorization.ts';
import { asking, calm, errorOf, recordEvents, rejection } from '../harness.ts';
import { createScripted, PAGE, RESPONSES, status401, status500 } from '../scripted.ts';

function remembering(ttlMs = 5000) {
  const clock = { time: 1 };
  const { events, told } = recordEvents();
  const platform = createScripted();
  const authorize = async () => ({});
  const now = () => clock.time;
  const upstream = withAuthorization(platform.upstream, { authorize, rememberRejectedMs: ttlMs, events, now });
  const get = (key: string) => upstream.get(asking('/', { credentialKey: key }), calm());
  const fail = async (key: string, error: unknown) => {
    const reading = rejection(get(key));
    await turn();
    platform.open[0]?.fail(error);
    expect(await reading).to.equal(error);
  };
  return { ...platform, get, fail, clock, told };
}

describe('an upstream that remembers rejected tokens', () => {
  it('answers that caller at once for a while, which it reports, and calls the upstream again after it', async () => {
    const { get, fail, open, count, clock, told } = remembering();
    await fail('a', status401());
    expect(told.callRefused).to.equal(undefined);
    clock.time = 5001;
    expect(await errorOf(get('a'))).to.include({
      code: 'credential_rejected',
      upstream: 'projects',
      countsForBreaker: false,
    });
    expect(told.callRefused).to.deep.equal([
      { requestId: 'request-1', upstream: 'projects', code: 'credential_rejected' },
    ]);
    expect(count()).to.equal(1);
    clock.time = 5002;
    const reading = get('a');
    await turn();
    open[0]?.succeed();
    expect(await reading).to.deep.equal(PAGE);
  });

  it('remembers nothing but a rejected token of the caller', async () => {
    const { fail, count } = remembering();
    const others = Object.values(RESPONSES).filter(({ code }) => code !== 'credential_rejected');
    for (const error of [...others, status500(), new TypeError('a bug')]) {
      await fail('a', error);
      await fail('a', error);
    }
    expect(count()).to.equal(2 * others.length + 4);
  });

  it('remembers nothing where it is set to 0', async () => {
    const { fail, count } = remembering(0);
    await fail('a', status401());
    await fail('a', status401());
    expect(count()).to.equal(2);
  });
});
