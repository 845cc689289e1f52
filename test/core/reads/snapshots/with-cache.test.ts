import { expect } from 'chai';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { callerOf, errorOf, text } from './fake-loader.ts';
import { alice, cacheFixture, readAnswered, readRejected, SECOND } from './replica.ts';

// What no caller may be served, in whatever order things happen: with-cache.model.test.ts.

describe('a snapshot', () => {
  it('is not stored for a read that must not be stored, nor replaced or refreshed by it', async () => {
    const { tools, cache, clock, told } = cacheFixture();
    const readUnstored = (id: string) => readAnswered(tools, [{ id }], alice, { noStore: true });
    expect(await readUnstored('a')).not.to.have.property('cached');
    expect(cache.entries).to.equal(0);
    await readAnswered(tools, [{ id: 'b' }]);
    expect(text(await tools.read(alice, { noStore: true })), 'stored before').to.contain('b');
    clock.now += 60 * SECOND;
    expect(text(await readUnstored('c'))).to.contain('c');
    expect(text(await tools.read(alice))).to.contain('b');
    expect(told.filter(([name]) => name === 'stored')).to.have.length(1);
  });

  it('reports that it is not stored if it is too large, or the token has ended', async () => {
    const { tools, clock } = cacheFixture(3000);
    const ended = await readAnswered(tools, [{ id: 'a' }], callerOf('alice', { expiresAt: clock.now }));
    for (const { cached } of [ended, await readAnswered(tools, [{ id: 'x'.repeat(2000) }])])
      expect(cached).to.include({ forwarded: 'miss', stored: false });
  });
});

describe('a denial of an upstream', () => {
  it('of one credential of a cache scope leaves what the others are served', async () => {
    const { tools, clock, cache } = cacheFixture();
    const [one, other] = [callerOf('one', { cacheScope: 'tenant' }), callerOf('other', { cacheScope: 'tenant' })];
    await readAnswered(tools, [{ id: 'by one' }], one);
    await readAnswered(tools, [{ id: 'by other' }], other);
    clock.now += 10 * SECOND;
    const denied = new GatewayError('access_denied');
    await errorOf(readRejected(tools, denied, one, { noCache: true }));
    expect(cache.entries).to.equal(1);
    expect(text(await tools.read(other))).to.contain('by other');
    // The list is loaded for this one again, without an entity tag that the upstream may have given another.
    await errorOf(readRejected(tools, denied, one));
    expect(tools.pendingLoads.map(({ options }) => options?.previous)).to.deep.equal(Array(4).fill(undefined));
  });
});
