import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { type HttpUpstream, json, listOf, startHttpUpstream, tokenOf } from '../support/http-upstream.ts';
import { type Redis, startRedis } from '../support/redis.ts';
import { createReader, forAll, metric, type Replica, type ReplicasOptions, startReplica } from '../support/replicas.ts';
import { needsCommands } from '../support/tools.ts';

const CALLERS = 1000;
const REPLICAS = 3;
const AT_ONCE = 48;
/** How long the platform takes. */
const LOAD_MS = 20;

const nameOf = (caller: number) => `token-of-caller-${caller}`;

describe('replicas that share a Redis', function () {
  this.timeout(180_000);
  let redis: Redis;
  let platform: HttpUpstream;
  /** Loads so far, by token. */
  let loads: Map<string, number>;
  let options: ReplicasOptions;

  before(function () {
    needsCommands(this, ['redis-server']);
  });

  beforeEach(async () => {
    redis = await startRedis();
    loads = new Map();
    platform = await startHttpUpstream(
      (request, response) => {
        const token = tokenOf(request);
        loads.set(token, (loads.get(token) ?? 0) + 1);
        const name = listOf(request);
        setTimeout(() => {
          json({ [name]: [{ id: token.slice(-4), name: `List of ${token}` }], nextPageToken: '' })(request, response);
        }, LOAD_MS);
      },
      { record: false },
    );
    options = {
      folder: redis.folder,
      platformUrl: platform.url,
      shared: 'waitMs: 60000',
      cache: 'ttlMs: 3600000',
      more: 'cache: { maxEntries: 100000 }',
    };
  });

  const start = (more: Partial<ReplicasOptions> = {}) => startReplica(redis.url, { ...options, ...more });
  const total = () => [...loads.values()].reduce((sum, count) => sum + count, 0);

  it(`load each list once for ${CALLERS} callers, whichever of the ${REPLICAS} they ask, at once or later`, async () => {
    const replicas = await Promise.all(Array.from({ length: REPLICAS }, () => start()));
    const read = createReader();
    const tokens = Array.from({ length: CALLERS }, (_, caller) => nameOf(caller));
    const wrong: string[] = [];
    for (let round = 0; round < 2; round += 1) {
      await forAll(tokens, AT_ONCE / REPLICAS, async (token) => {
        const answers = await Promise.all(replicas.map((replica) => read(replica, 'tools', token)));
        for (const { status, body } of answers) {
          if (status !== 200 || !body.includes(`"List of ${token}"`)) wrong.push(`${status} ${body}`);
        }
      });
    }
    expect(wrong).to.deep.equal([]);
    expect(loads.size).to.equal(CALLERS);
    // One more where a lease was lost, or Redis was not asked.
    const lost = await sumOf(replicas, 'portico_shared_looks_total{resource="tools",outcome="unavailable"}');
    expect(total() - CALLERS).to.be.at.most(lost);
    expect(await sumOf(replicas, 'portico_shared_puts_total{resource="tools",outcome="stored"}')).to.equal(total());
    const hits = await sumOf(replicas, 'portico_shared_looks_total{resource="tools",outcome="hit"}');
    expect(hits).to.be.at.least(CALLERS * (REPLICAS - 1) - lost);
  });

  it('lose no read while they are started anew one after the other, and load nothing again', async () => {
    const grace = { more: `${options.more}\nshutdown: { delayMs: 500 }` };
    const replicas = await Promise.all(Array.from({ length: REPLICAS }, () => start(grace)));
    const read = createReader();
    const tokens = Array.from({ length: 100 }, (_, caller) => nameOf(caller));
    await forAll(tokens, 8, async (token) => void (await read(replicas[0] as Replica, 'tools', token)));
    await eventually(async () => ((await redis.command('KEYS', '*:value:*')) as unknown[]).length === tokens.length);
    const loaded = total();
    const failed: string[] = [];
    let reads = 0;
    let isOver = false;
    /** As a load balancer has them. */
    let inTurn: readonly Replica[] = replicas;
    const load = forAll(Array.from({ length: 8 }), 8, async () => {
      while (!isOver) {
        reads += 1;
        const token = tokens[reads % tokens.length] as string;
        const { status, body } = await read(inTurn[reads % inTurn.length] as Replica, 'tools', token).catch(
          (error) => ({
            status: 0,
            body: String(error),
          }),
        );
        if (status !== 200 || !body.includes(`"List of ${token}"`)) failed.push(`${status} ${body}`);
      }
    });
    for (const replica of replicas) {
      replica.process.child.kill('SIGTERM');
      await eventually(async () => (await fetch(`${replica.url}/readyz`)).status === 503);
      inTurn = inTurn.filter((one) => one !== replica);
      const { code } = await replica.process.ended;
      expect(code).to.equal(0);
      inTurn = [...inTurn, await start(grace)];
    }
    const before = reads;
    await eventually(() => reads > before + 300);
    isOver = true;
    await load;
    expect(failed).to.deep.equal([]);
    expect(reads).to.be.above(500);
    expect(total()).to.equal(loaded);
  });

  it('wait no longer than the lease of one that was killed while it loaded', async () => {
    const leaseMs = 2000;
    const more = { shared: `leaseMs: ${leaseMs}, waitMs: 60000` };
    const [first, second] = [await start(more), await start(more)];
    const read = createReader();
    let isHeld = true;
    platform.respond((request, response) => {
      loads.set(tokenOf(request), (loads.get(tokenOf(request)) ?? 0) + 1);
      // The first one is answered never.
      if (isHeld) isHeld = false;
      else json({ tools: [], nextPageToken: '' })(request, response);
    });
    const dying = read(first, 'tools', nameOf(1)).catch(() => 'gone');
    await eventually(() => total() === 1);
    const begun = performance.now();
    const waiting = read(second, 'tools', nameOf(1));
    first.process.child.kill('SIGKILL');
    expect(await dying).to.equal('gone');
    expect((await waiting).status).to.equal(200);
    // With the room that a busy machine needs: the wait of the settings is a minute.
    expect(performance.now() - begun).to.be.within(0, leaseMs + 20_000);
    expect(total()).to.equal(2);
  });
});

async function sumOf(replicas: readonly Replica[], series: string): Promise<number> {
  const values = await Promise.all(replicas.map((replica) => metric(replica, series)));
  return values.reduce((sum, value) => sum + value, 0);
}
