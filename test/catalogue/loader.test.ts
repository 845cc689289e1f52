import { expect } from 'chai';
import { createLoader } from '../../src/catalogue/loader.ts';
import { GatewayError } from '../../src/kernel/errors.ts';
import { createMapper } from '../../src/mapping/mapper.ts';
import { createPageParser } from '../../src/mapping/page.ts';
import type { PageRequest, ReplyHeaders } from '../../src/upstream/upstream.ts';
import { callerWith } from '../support/caller.ts';

const plain = { from: '', default: '', values: {}, format: 'none' } as const;

/** How an upstream answers; without a text, it says that the page is still what it was. */
type Answer = (
  request: Omit<PageRequest<unknown>, 'read'>,
  signal: AbortSignal,
) => Promise<{ readonly text?: string; readonly headers: ReplyHeaders }>;

/** A loader of items with id and name, over an upstream that answers each request as told. */
function loaderOver(answer: Answer, { timeoutMs = 5_000, invalidItems = 'fail' as 'fail' | 'drop' } = {}) {
  return createLoader({
    upstream: {
      name: 'platform',
      async get({ read, ...request }, signal) {
        const { text, headers } = await answer(request, signal);
        return { page: text === undefined ? undefined : read(text), headers };
      },
      close: async () => {},
    },
    timeoutMs,
    now: Date.now,
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
    const load = loaderOver(async ({ target }) => {
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
      (_request, signal) =>
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

  describe('of a list of one page with an entity tag', () => {
    const tagged = (etag: string | string[] | undefined) => ({ ...page([thing(1)]), headers: { etag } });

    it('is renewed where the upstream says that it is still the same', async () => {
      const tags: (string | undefined)[] = [];
      const load = loaderOver(async ({ ifNoneMatch: tag }) => {
        tags.push(tag);
        return tag === undefined ? tagged('W/"1"') : { headers: {} };
      });
      const first = await load(callerWith(), never);
      expect(first).to.include({ upstreamEtag: 'W/"1"' }).and.not.have.property('renewed');
      const known = { ...first, snapshot: { ...first.snapshot, loadedAt: 1 } };
      const second = await load(callerWith(), never, { known });
      expect(tags).to.deep.equal([undefined, 'W/"1"']);
      expect(second).to.include({ renewed: true, upstreamEtag: 'W/"1"', pages: 1 });
      expect(second.snapshot.bytes).to.equal(first.snapshot.bytes);
      expect(second.snapshot.loadedAt).to.be.above(1);
      expect(Object.isFrozen(second.snapshot)).to.equal(true);
    });

    it('is loaded anew where it changed, even into several pages', async () => {
      const tags: (string | undefined)[] = [];
      const load = loaderOver(async ({ ifNoneMatch: tag }) => {
        tags.push(tag);
        if (tags.length === 1) return tagged('"1"');
        return { ...page([thing(tags.length)], tags.length === 2 ? 'more' : ''), headers: { etag: '"2"' } };
      });
      const known = await load(callerWith(), never);
      const second = await load(callerWith(), never, { known });
      expect(tags).to.deep.equal([undefined, '"1"', undefined]);
      expect(second.snapshot.count).to.equal(2);
      expect(second).not.to.have.any.keys('renewed', 'upstreamEtag');
    });

    for (const etag of [undefined, '1', '"a" "b"', '"\u00e9"', ['"1"', '"2"']]) {
      it(`is not asked about by ${JSON.stringify(etag)}`, async () => {
        const load = loaderOver(async () => tagged(etag));
        expect(await load(callerWith(), never)).not.to.have.property('upstreamEtag');
      });
    }
  });
});
