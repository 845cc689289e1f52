import { expect } from 'chai';
import { withRejections } from '../../src/upstream/with-rejections.ts';
import { asking, calm, failureOf, rejection } from './harness.ts';
import { ANSWERS, createScripted, PAGE, status401, status500 } from './scripted.ts';

function remembering(forMs = 5000) {
  const clock = { time: 0 };
  const platform = createScripted();
  const upstream = withRejections(platform.upstream, { forMs, now: () => clock.time });
  const get = (partition: string) => upstream.get(asking('/', { partition }), calm());
  const fail = async (partition: string, error: unknown) => {
    const reading = rejection(get(partition));
    platform.open[0]?.fail(error);
    expect(await reading).to.equal(error);
  };
  return { ...platform, get, fail, clock };
}

describe('an upstream that remembers whom it refused', () => {
  it('answers that caller at once for a while, and asks again after it', async () => {
    const { get, fail, open, count, clock } = remembering();
    await fail('a', status401());
    clock.time = 4999;
    expect(await failureOf(get('a'))).to.include({ code: 'credential_rejected', upstream: 'projects', fault: false });
    expect(count()).to.equal(1);
    clock.time = 5000;
    const reading = get('a');
    open[0]?.succeed();
    expect(await reading).to.deep.equal(PAGE);
  });

  it('does not make the while longer by being asked', async () => {
    const { get, fail, open, clock } = remembering();
    await fail('a', status401());
    clock.time = 3000;
    await failureOf(get('a'));
    clock.time = 5000;
    const reading = get('a');
    open[0]?.succeed();
    await reading;
  });

  it('asks for everybody else', async () => {
    const { get, fail, open } = remembering();
    await fail('a', status401());
    const reading = get('b');
    open[0]?.succeed();
    expect(await reading).to.deep.equal(PAGE);
  });

  it('remembers nothing but a refused token of the caller', async () => {
    const { fail, count } = remembering();
    const others = Object.values(ANSWERS).filter(({ code }) => code !== 'credential_rejected');
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
