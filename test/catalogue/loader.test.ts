import { expect } from 'chai';
import { createLoader } from '../../src/catalogue/loader.ts';
import { GatewayError } from '../../src/kernel/errors.ts';
import { createMapper } from '../../src/mapping/mapper.ts';
import { createPageParser } from '../../src/mapping/page.ts';
import type { Upstream } from '../../src/upstream/upstream.ts';
import { callerWith } from '../support/caller.ts';

const plain = { from: '', default: '', values: {}, format: 'none' } as const;

/** A loader of items with id and name, over an upstream that answers each target as told. */
function loaderOver(get: Upstream['get'], { timeoutMs = 5_000, invalidItems = 'fail' as 'fail' | 'drop' } = {}) {
  return createLoader({
    upstream: { name: 'platform', get, close: async () => {} },
    timeoutMs,
    list: {
      baseUrl: 'https://platform.example/base',
      path: '/things',
      query: { installed: 'true' },
      pagination: {
        kind: 'token',
        sizeParam: 'size',
        size: 2,
        tokenParam: 'token',
        next: (body) => (body as { next?: unknown }).next,
      },
      maxItems: 10,
      maxPages: 10,
    },
    parse: createPageParser('things'),
    map: createMapper({
      fields: { id: { ...plain, from: 'id' }, name: { ...plain, from: 'name' } },
      required: ['id', 'name'],
      invalidItems,
    }),
  });
}

const page = (things: unknown, next = '') => ({ text: JSON.stringify({ things, next }), headers: {} });
const thing = (id: number) => ({ id, name: `Thing ${id}`, more: 'dropped' });
const never = new AbortController().signal;

async function failure(reading: Promise<unknown>): Promise<unknown> {
  try {
    await reading;
  } catch (error) {
    return error;
  }
  return expect.fail('the read did not fail');
}

describe('a loader', () => {
  it('makes one snapshot of all pages, mapped', async () => {
    const targets: string[] = [];
    const load = loaderOver(async (target) => {
      targets.push(target);
      return targets.length === 1 ? page([thing(1), thing(2)], 'more') : page([thing(3)]);
    });
    const { snapshot, pages, dropped, upstreamMs } = await load(callerWith(), never);
    expect(JSON.parse(snapshot.bytes.toString())).to.deep.equal([
      { id: '1', name: 'Thing 1' },
      { id: '2', name: 'Thing 2' },
      { id: '3', name: 'Thing 3' },
    ]);
    expect(targets).to.deep.equal([
      '/base/things?installed=true&size=2',
      '/base/things?installed=true&size=2&token=more',
    ]);
    expect({ pages, dropped }).to.deep.equal({ pages: 2, dropped: 0 });
    expect(upstreamMs).to.be.at.least(0);
  });

  it('counts the items that it dropped over all pages', async () => {
    let asked = 0;
    const load = loaderOver(async () => page([{ id: asked }, thing(++asked)], asked < 3 ? String(asked) : ''), {
      invalidItems: 'drop',
    });
    const { snapshot, dropped } = await load(callerWith(), never);
    expect({ count: snapshot.count, dropped }).to.deep.equal({ count: 3, dropped: 3 });
  });

  it('names the upstream when a page cannot be used', async () => {
    const error = await failure(loaderOver(async () => page('not a list'))(callerWith(), never));
    expect(error).to.be.instanceOf(GatewayError).and.include({ code: 'upstream_invalid', upstream: 'platform' });
  });

  it('fails whole when a later page fails', async () => {
    let asked = 0;
    const load = loaderOver(async () => {
      asked += 1;
      if (asked === 2) throw new GatewayError('upstream_failed', { upstream: 'platform' });
      return page([thing(1)], 'more');
    });
    expect(await failure(load(callerWith(), never))).to.include({ code: 'upstream_failed', upstream: 'platform' });
  });

  it('ends at its deadline, naming the upstream, and aborts what it waits for', async () => {
    let aborted = false;
    const load = loaderOver(
      (_target, _caller, signal) =>
        new Promise(() => {
          signal.addEventListener('abort', () => {
            aborted = true;
          });
        }),
      { timeoutMs: 20 },
    );
    expect(await failure(load(callerWith(), never))).to.include({ code: 'upstream_timeout', upstream: 'platform' });
    expect(aborted).to.equal(true);
  });

  it("ends with the caller's own reason when the caller hangs up", async () => {
    const caller = new AbortController();
    const gone = new Error('gone');
    const reading = loaderOver(() => new Promise(() => {}))(callerWith(), caller.signal);
    caller.abort(gone);
    expect(await failure(reading)).to.equal(gone);
  });
});
