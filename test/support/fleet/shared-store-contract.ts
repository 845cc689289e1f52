import { expect } from 'chai';
import type { SharedStore } from '../../../src/capabilities/shared-cache/snapshots/store.ts';
import { eventually } from '../eventually.ts';

/** A store to be held to the contract, in whatever way it is there. Nothing is held in it. */
export interface StoreOnTrial {
  /** The store as one more replica sees it, ready to be asked. */
  connect(): Promise<SharedStore>;
  /** Lets so many milliseconds pass, and hardly more. */
  pass(ms: number): Promise<void>;
  /** Has the store forget everything, as an operator might. */
  flush(): Promise<void>;
}

const TTL_MS = 60_000;
const BYTES = Buffer.from([0, 255, 13, 10, 128]);

/** Holds a store to what `SharedStore` promises. Call it within a suite; `open` gives an empty one for each test. */
export function holdToContract(open: () => Promise<StoreOnTrial>): void {
  let trial: StoreOnTrial;
  let one: SharedStore;
  let other: SharedStore;

  beforeEach(async () => {
    trial = await open();
    one = await trial.connect();
    other = await trial.connect();
  });

  async function generationOf(name: string): Promise<string> {
    const looked = await one.look(name);
    if (looked === undefined) throw new Error('the store cannot be asked');
    return looked.generation;
  }

  async function leaseOf(store: SharedStore, name: string, ms = TTL_MS): Promise<string> {
    const lease = await store.lease(name, ms);
    if (lease === undefined || lease === 'other') throw new Error(`no lease: ${lease}`);
    return lease.token;
  }

  const heldBy = async (store: SharedStore, name = 'a') => (await store.look(name))?.held;

  it('holds nothing under a name that nobody has put, in a generation that lasts', async () => {
    const looked = await one.look('a');
    expect(looked?.held).to.equal(undefined);
    expect(looked?.generation)
      .to.be.a('string')
      .and.equal((await other.look('a'))?.generation);
  });

  it('gives every replica the bytes that one has put, under that name alone', async () => {
    expect(await one.put('a', BYTES, { generation: await generationOf('a'), ttlMs: TTL_MS })).to.equal(true);
    expect(await heldBy(other)).to.deep.equal(BYTES);
    expect(await heldBy(other, 'b')).to.equal(undefined);
    const later = Buffer.from('later');
    expect(await other.put('a', later, { generation: await generationOf('a'), ttlMs: TTL_MS })).to.equal(true);
    expect(await heldBy(one)).to.deep.equal(later);
  });

  it('holds them no longer than it was told', async () => {
    await one.put('a', BYTES, { generation: await generationOf('a'), ttlMs: 40 });
    await trial.pass(60);
    expect(await heldBy(other)).to.equal(undefined);
  });

  it('refuses bytes of a generation that never was', async () => {
    expect(await one.put('a', BYTES, { generation: 'never', ttlMs: TTL_MS })).to.equal(false);
    expect(await heldBy(other)).to.equal(undefined);
  });

  it('lets go of what is evicted, and refuses loads that began earlier', async () => {
    const [a, b, c] = [await generationOf('a'), await generationOf('b'), await generationOf('c')];
    await one.put('a', BYTES, { generation: a, ttlMs: TTL_MS });
    await one.put('c', BYTES, { generation: c, ttlMs: TTL_MS });
    await other.evict(['a', 'b']);
    expect(await heldBy(one)).to.equal(undefined);
    for (const [name, generation] of [['a', a] as const, ['b', b] as const]) {
      expect(await one.put(name, BYTES, { generation, ttlMs: TTL_MS }), name).to.equal(false);
      expect(await heldBy(one, name)).to.equal(undefined);
    }
    expect(await heldBy(one, 'c'), 'another name').to.deep.equal(BYTES);
    expect(await one.put('c', BYTES, { generation: c, ttlMs: TTL_MS })).to.equal(true);
    expect(await one.put('a', BYTES, { generation: await generationOf('a'), ttlMs: TTL_MS })).to.equal(true);
  });

  it('has a generation of its own after each eviction', async () => {
    const seen = [await generationOf('a')];
    for (let times = 0; times < 3; times += 1) {
      await one.evict(['a']);
      seen.push(await generationOf('a'));
    }
    expect(new Set(seen).size).to.equal(seen.length);
  });

  it('brings no generation back after it was emptied', async () => {
    const untouched = await generationOf('a');
    await one.evict(['b']);
    const evicted = await generationOf('b');
    await trial.flush();
    expect(await one.put('a', BYTES, { generation: untouched, ttlMs: TTL_MS })).to.equal(false);
    expect(await one.put('b', BYTES, { generation: evicted, ttlMs: TTL_MS })).to.equal(false);
    expect(await one.put('a', BYTES, { generation: await generationOf('a'), ttlMs: TTL_MS })).to.equal(true);
  });

  it('gives a lease to one at a time, under each name', async () => {
    const token = await leaseOf(one, 'a');
    expect(await other.lease('a', TTL_MS)).to.equal('other');
    expect(await one.lease('a', TTL_MS)).to.equal('other');
    expect(await leaseOf(other, 'b')).to.not.equal(token);
  });

  it('takes a lease back from whoever has it, and from nobody else', async () => {
    const token = await leaseOf(one, 'a');
    await other.release('a', 'of-somebody-else');
    expect(await other.lease('a', TTL_MS)).to.equal('other');
    await one.release('a', token);
    expect(await leaseOf(other, 'a')).to.not.equal(token);
  });

  it('ends a lease after its time, so that what is put under it then is refused', async () => {
    const generation = await generationOf('a');
    const late = await leaseOf(one, 'a', 40);
    await trial.pass(60);
    expect(await one.put('a', BYTES, { generation, lease: late, ttlMs: TTL_MS })).to.equal(false);
    const next = await leaseOf(other, 'a');
    await one.release('a', late);
    expect(await one.put('a', BYTES, { generation, lease: late, ttlMs: TTL_MS })).to.equal(false);
    expect(await heldBy(one)).to.equal(undefined);
    expect(await other.put('a', BYTES, { generation, lease: next, ttlMs: TTL_MS })).to.equal(true);
  });

  it('takes the lease back with what is put under it', async () => {
    const generation = await generationOf('a');
    const token = await leaseOf(one, 'a');
    expect(await one.put('a', BYTES, { generation, lease: token, ttlMs: TTL_MS })).to.equal(true);
    expect(await leaseOf(other, 'a')).to.not.equal(token);
  });

  it('takes what is put without a lease, and leaves the lease with whoever has it', async () => {
    const generation = await generationOf('a');
    const token = await leaseOf(one, 'a');
    expect(await other.put('a', BYTES, { generation, ttlMs: TTL_MS })).to.equal(true);
    expect(await other.lease('a', TTL_MS)).to.equal('other');
    expect(await one.put('a', BYTES, { generation, lease: token, ttlMs: TTL_MS })).to.equal(true);
  });

  it('ends the lease of what is evicted: nobody need wait for a load that will be refused', async () => {
    const generation = await generationOf('a');
    const token = await leaseOf(one, 'a');
    await other.evict(['a']);
    await leaseOf(other, 'a');
    expect(await one.put('a', BYTES, { generation, lease: token, ttlMs: TTL_MS })).to.equal(false);
  });

  it('tells every other replica of an eviction, until it does not listen any more', async () => {
    const heard: Record<string, unknown[]> = { one: [], other: [] };
    one.onEvicted((names) => heard['one']?.push(names));
    const stop = other.onEvicted((names) => heard['other']?.push(names));
    await one.evict(['a', 'b']);
    await eventually(() => heard['other']?.length === 1);
    expect(heard).to.deep.equal({ one: [], other: [['a', 'b']] });
    stop();
    await one.evict(['c']);
    await other.evict(['d']);
    await eventually(() => heard['one']?.length === 1);
    expect(heard).to.deep.equal({ one: [['d']], other: [['a', 'b']] });
  });
}
