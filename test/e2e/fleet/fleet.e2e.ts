import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { atDepth } from '../../support/depth.ts';
import { eventually } from '../../support/eventually.ts';
import { type Redis, startRedis } from '../../support/fleet/redis.ts';
import {
  createReader,
  forAll,
  metric,
  type Replica,
  type ReplicasOptions,
  repeatAtOnce,
  startReplica,
} from '../../support/fleet/replicas.ts';
import { type HttpUpstream, json, listOf, startHttpUpstream, tokenOf } from '../../support/platform/http-upstream.ts';
import { needsCommands } from '../../support/tools.ts';

const CALLERS = atDepth(150, 1000);
const REPLICAS = atDepth(2, 3);
const AT_ONCE = 48;
const LOAD_MS = 20;

const nameOf = (caller: number) => `token-of-caller-${caller}`;

describe('replicas that share a Redis', function () {
  this.timeout(180_000);
  let redis: Redis;
  let platform: HttpUpstream;
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
      cache: 'ttlMs: 3600000',
      more: 'cache: { maxEntries: 100000 }',
    };
  });

  const start = (more: Partial<ReplicasOptions> = {}) => startReplica(redis.url, { ...options, ...more });
  const total = () => [...loads.values()].reduce((sum, count) => sum + count, 0);

  it(`take lists of each other for ${CALLERS} callers, whichever of the ${REPLICAS} they ask, at once or later`, async () => {
    const replicas = await Promise.all(Array.from({ length: REPLICAS }, () => start()));
    const read = createReader();
    const tokens = Array.from({ length: CALLERS }, (_, caller) => nameOf(caller));
    const wrong: string[] = [];
    const readAll = (inTurn: readonly Replica[]) =>
      forAll(tokens, AT_ONCE / REPLICAS, async (token) => {
        for (const { status, body } of await Promise.all(inTurn.map((replica) => read(replica, 'tools', token)))) {
          if (status !== 200 || !body.includes(`"List of ${token}"`)) wrong.push(`${status} ${body}`);
        }
      });
    await readAll(replicas.slice(0, 1));
    await eventually(async () => ((await redis.command('KEYS', '*:list:*')) as unknown[]).length === CALLERS);
    for (let round = 0; round < 2; round += 1) await readAll(replicas);
    expect(wrong).to.deep.equal([]);
    expect(loads.size).to.equal(CALLERS);
    // One more for each time that Redis was not asked.
    const lost = await sumOf(replicas, 'portico_shared_cache_lookups_total{resource="tools",outcome="unavailable"}');
    expect(total() - CALLERS).to.be.at.most(lost);
    const hits = await sumOf(replicas, 'portico_shared_cache_lookups_total{resource="tools",outcome="hit"}');
    expect(hits).to.be.at.least(CALLERS * (REPLICAS - 1) - lost);
  });

  it('lose no read while they are restarted one after the other, and load nothing again', async () => {
    const grace = { more: `${options.more}\nshutdown: { delayMs: 2000 }` };
    const replicas = await Promise.all(Array.from({ length: REPLICAS }, () => start(grace)));
    const read = createReader();
    const tokens = Array.from({ length: 40 }, (_, caller) => nameOf(caller));
    await forAll(tokens, 8, async (token) => void (await read(replicas[0] as Replica, 'tools', token)));
    await eventually(async () => ((await redis.command('KEYS', '*:list:*')) as unknown[]).length === tokens.length);
    const loaded = total();
    const failed: string[] = [];
    let reads = 0;
    /** As a load balancer has them. */
    let inTurn: readonly Replica[] = replicas;
    const stop = repeatAtOnce(8, async () => {
      // Leaves time to the replicas that start.
      await sleep(20);
      reads += 1;
      const token = tokens[reads % tokens.length] as string;
      const reading = read(inTurn[reads % inTurn.length] as Replica, 'tools', token);
      const { status, body } = await reading.catch((error) => ({ status: 0, body: String(error) }));
      if (status !== 200 || !body.includes(`"List of ${token}"`)) failed.push(`${status} ${body}`);
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
    await stop();
    expect(failed).to.deep.equal([]);
    expect(reads).to.be.above(500);
    expect(total()).to.equal(loaded);
  });

  it('receive, once they continue, the evictions that they missed while stopped', async () => {
    const [stopped, other] = [await start(), await start()];
    const read = createReader();
    const tokens = Array.from({ length: 20 }, (_, caller) => nameOf(caller));
    await forAll(tokens, 8, async (token) => void (await read(stopped, 'tools', token)));
    stopped.process.child.kill('SIGSTOP');
    platform.respond((_request, response) => response.writeHead(401).end());
    await forAll(tokens, 8, async (token) => {
      expect((await read(other, 'projects', token)).status).to.equal(401);
    });
    stopped.process.child.kill('SIGCONT');
    for (const token of tokens) await eventually(async () => (await read(stopped, 'tools', token)).status === 401);
  });

  it('leave no token, no list and no name in Redis, in a key or a value, nor in its file', async () => {
    const limits = 'cache: { maxEntries: 100000 }\nlimits: { perCaller: 100000 }';
    const replicas = await Promise.all([start({ more: limits }), start({ more: limits })]);
    const read = createReader();
    const words = ['canary-list', 'platform://', 'tools', 'workflows', 'projects', '127.0.0.1'];
    platform.respond((request, response) => {
      const name = listOf(request);
      const item = { id: 'a', name: `canary-list of ${tokenOf(request)}`, description: 'canary-list '.repeat(50) };
      if (tokenOf(request).endsWith('7')) return void response.writeHead(403).end();
      if (tokenOf(request).endsWith('8')) return void response.writeHead(401).end();
      json({ [name]: [item], nextPageToken: '' })(request, response);
    });
    const tokens = Array.from({ length: 20 }, (_, caller) => `canary-token-${'x'.repeat(30)}-${caller}`);
    const outcomes = new Set<number>();
    for (const replica of replicas) {
      for (const token of tokens) {
        for (const name of ['projects', 'workflows', 'tools']) outcomes.add((await read(replica, name, token)).status);
      }
      outcomes.add((await fetch(`${replica.url}/mcp/v1/resources`)).status);
    }
    expect(outcomes).to.deep.equal(new Set([200, 403, 401]));
    const keys = async (kind: string) => ((await redis.command('KEYS', `*:${kind}*`)) as string[]).length;
    // Two lists of each caller that is not refused; counters of each caller, and of the address.
    await eventually(async () => (await keys('list:')) === 32 && (await keys('{counters}:')) === tokens.length + 1);
    await redis.command('CONFIG', 'SET', 'rdbcompression', 'no');
    await redis.command('SAVE');
    const said: Buffer[] = [await readFile(join(redis.folder, 'dump.rdb'))];
    let cursor = '0';
    do {
      const [next, names] = (await redis.command('SCAN', cursor, 'COUNT', '1000')) as [string, string[]];
      cursor = next;
      for (const name of names) {
        said.push(Buffer.from(name));
        said.push(Buffer.from(JSON.stringify(await redis.command('GET', name))));
      }
    } while (cursor !== '0');
    const all = Buffer.concat(said);
    expect(all.includes('portico:list:'), 'what is looked for can be found').to.equal(true);
    const secrets = [...words, ...tokens].flatMap((word) => [
      word,
      // What is as short as this may come about by chance.
      ...[Buffer.from(word).toString('base64').slice(0, -4)].filter(({ length }) => length > 7),
      createHash('sha256').update(word).digest('hex').slice(0, 16),
      createHash('sha256').update(word).digest('base64').slice(0, 16),
    ]);
    expect(secrets.filter((secret) => all.includes(secret))).to.deep.equal([]);
  });
});

async function sumOf(replicas: readonly Replica[], series: string): Promise<number> {
  const values = await Promise.all(replicas.map((replica) => metric(replica, series)));
  return values.reduce((sum, value) => sum + value, 0);
}
