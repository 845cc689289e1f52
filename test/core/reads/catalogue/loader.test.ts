import { expect } from 'chai';
import { createLoading } from '../../../../src/core/upstream/loading.ts';
import { callerWith } from '../../../support/authorization/caller.ts';
import { errorOf, never } from '../snapshots/fake-loader.ts';
import { listWith, loaderOver } from './loader-over.ts';

const page = (things: unknown, next = '') => ({ text: JSON.stringify({ things, next }), headers: {} });
const thing = (id: number) => ({ id, name: `Thing ${id}`, more: 'dropped' });

describe('a loader', () => {
  it('is empty if its reply is, also where settings name a total', async () => {
    const counted = { sizeParam: null, size: 2, concurrency: 1, offsetParam: 'skip' } as const;
    const total = (body: unknown) => (body as { total?: unknown } | null)?.total;
    for (const named of [{ total }, { totalHeader: 'X-Total' }]) {
      for (const pagination of [
        { kind: 'none', ...named },
        { kind: 'offset', ...counted, ...named },
      ] as const) {
        const read = (text: string) => loaderOver(async () => ({ text }), { list: listWith({ pagination }) });
        expect((await read('')(callerWith(), never)).snapshot.count).to.equal(0);
        expect(await errorOf(read('{"things":[]}')(callerWith(), never))).to.include({ code: 'upstream_invalid' });
      }
    }
  });

  it('accounts for the bytes of its requests until it ends', async () => {
    const loading = createLoading({ maxBytes: 1000 });
    const read = (bytes: number) =>
      loaderOver(
        async ({ hold }) => {
          hold?.(bytes);
          return page([thing(1)]);
        },
        { loading },
      )(callerWith(), never);
    for (let count = 0; count < 3; count += 1) expect((await read(1000)).pages).to.equal(1);
    expect(await errorOf(read(1001))).to.include({ code: 'upstream_invalid', upstream: 'platform' });
  });

  describe('of a list of one page with an entity tag', () => {
    const tagged = (etag: string | string[] | undefined) => ({ ...page([thing(1)]), headers: { etag } });

    it('is renewed with its representations if the upstream reports it as unchanged', async () => {
      const [tags, told]: [unknown[], unknown[]] = [[], []];
      let time = 1000;
      const load = loaderOver(
        async ({ ifNoneMatch: tag }) => {
          tags.push(tag);
          return tag === undefined ? tagged('W/"1"') : { headers: {} };
        },
        { now: () => (time += 500), events: { listLoaded: (loaded) => told.push(loaded) } },
      );
      const first = await load(callerWith(), never);
      expect(first).to.include({ upstreamEtag: 'W/"1"' }).and.not.have.property('notModified');
      const representations = { gzip: Buffer.from('made') };
      const previous = { ...first, snapshot: { ...first.snapshot, representations } };
      const second = await load(callerWith(), never, { previous });
      expect(tags).to.deep.equal([undefined, 'W/"1"']);
      expect(second).to.include({ notModified: true, upstreamEtag: 'W/"1"', pages: 1 });
      expect(second.snapshot).to.include({
        bytes: first.snapshot.bytes,
        loadStartedAt: 2500,
        receivedAt: 3000,
        representations,
      });
      expect(Object.isFrozen(second.snapshot)).to.equal(true);
      expect(told, 'it is stored again, not loaded').to.have.length(1);
    });
  });
});
