import { mock } from 'node:test';
import { expect } from 'chai';
import { asking, calm, errorOf, passUndiciTime, useHarness } from '../harness.ts';

describe('a connection that does not open', () => {
  const { serveRaw, open } = useHarness();
  afterEach(() => mock.timers.reset());

  /** A read over TLS of a server that never says anything. `settled` tells whether it has ended. */
  async function readSilent(connectTimeoutMs: number) {
    const arrived = Promise.withResolvers<void>();
    const { url } = await serveRaw(() => arrived.resolve());
    const upstream = open(url.replace('http:', 'https:'), { connectTimeoutMs });
    const state = { settled: false };
    const reading = errorOf(upstream.get(asking(), calm())).finally(() => {
      state.settled = true;
    });
    await arrived.promise;
    return { reading, state, upstream };
  }

  /** Lets all that is ready to happen do so. */
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  it('is upstream_timeout once its time has passed, to the millisecond', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const { reading, state } = await readSilent(300);
    mock.timers.tick(299);
    await turn();
    expect(state.settled).to.equal(false);
    mock.timers.tick(1);
    expect(await reading).to.include({
      code: 'upstream_timeout',
      upstream: 'projects',
      reason: 'the connection did not open in time',
      retryable: 'connect',
      fault: true,
    });
  });

  it('has all the time that it was given: no timer of undici ends it', async () => {
    const { reading, state, upstream } = await readSilent(60_000);
    passUndiciTime(50_000);
    await turn();
    expect(state.settled).to.equal(false);
    await upstream.close();
    expect((await reading).code).to.equal('draining');
  });
});
