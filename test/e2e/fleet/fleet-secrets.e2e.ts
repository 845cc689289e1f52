import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createAuthority } from '../../support/certificates.ts';
import { eventually } from '../../support/eventually.ts';
import { listenForTls, type Redis, showIdentity, startRedis } from '../../support/fleet/redis.ts';
import {
  createReader,
  metric,
  type Replica,
  type ReplicasOptions,
  repeatAtOnce,
  startReplica,
} from '../../support/fleet/replicas.ts';
import { type HttpUpstream, json, listOf, startHttpUpstream, tokenOf } from '../../support/platform/http-upstream.ts';
import { needsCommands } from '../../support/tools.ts';

const CALLERS = 40;
const AT_ONCE = 8;
const LOOKS = 'portico_shared_cache_lookups_total{resource="tools",outcome=';

const tokenOfCaller = (caller: number) => `token-of-caller-${caller}.`;

describe('replicas under load whose secrets and certificates change', function () {
  this.timeout(180_000);
  let redis: Redis;
  let platform: HttpUpstream;
  let loads: number;
  let options: ReplicasOptions;
  let wrong: string[];
  let reads: number;

  before(function () {
    needsCommands(this, ['redis-server']);
  });

  beforeEach(async () => {
    redis = await startRedis();
    [loads, reads, wrong] = [0, 0, []];
    platform = await startHttpUpstream(
      (request, response) => {
        const [name, token] = [listOf(request), tokenOf(request)];
        loads += 1;
        json({ [name]: [{ id: 'a', name: `${name} of ${token}` }], nextPageToken: '' })(request, response);
      },
      { record: false },
    );
    options = {
      folder: redis.folder,
      platformUrl: platform.url,
      cache: 'ttlMs: 3600000, minRefreshMs: 0',
      // Whoever has chosen a replica that is being stopped is served yet.
      more: 'limits: { perCaller: 100000, total: 10000000 }\nshutdown: { delayMs: 2000 }',
    };
  });

  /** Has callers read all the time, and gives what ends that. */
  function load(inTurn: () => readonly Replica[]): () => Promise<void> {
    const read = createReader();
    return repeatAtOnce(AT_ONCE, async () => {
      reads += 1;
      const token = tokenOfCaller(reads % CALLERS);
      const all = inTurn();
      const { status, body } = await read(all[Math.floor(Math.random() * all.length)] as Replica, 'tools', token);
      if (status !== 200 || !body.includes(`"tools of ${token}"`)) wrong.push(`${status} ${body.slice(0, 300)}`);
    });
  }

  it('give a replica with another secret nothing, and fail no read', async () => {
    const start = (step: object = {}) => startReplica(redis.url, { ...options, ...step });
    let inTurn: readonly Replica[] = [await start(), await start()];
    const stop = load(() => inTurn);
    await eventually(async () => ((await redis.command('KEYS', '*:list:*')) as unknown[]).length === CALLERS);
    const loaded = loads;
    const stranger = await start({ secret: 'a secret that has nothing to do with those' });
    inTurn = [...inTurn, stranger];
    await eventually(async () => (await metric(stranger, `${LOOKS}"miss"}`)) >= CALLERS);
    await stop();
    expect(await metric(stranger, `${LOOKS}"hit"}`)).to.equal(0);
    for (const replica of inTurn) expect(await metric(replica, `${LOOKS}"altered"}`)).to.equal(0);
    expect(loads - loaded).to.be.within(CALLERS, 2 * CALLERS);
    expect(wrong).to.deep.equal([]);
  });

  it('fail no read while files of TLS and the password are wrong, halfway written or gone, and come back by themselves', async () => {
    const [authority, nextAuthority] = [await createAuthority('Old'), await createAuthority('New')];
    const file = (name: string, text: string) => {
      writeFileSync(join(redis.folder, name), text);
      return join(redis.folder, name);
    };
    const port = await listenForTls(redis, { ca: authority.ca, ...(await authority.issue()) }, 'no');
    const allow = (password: string) =>
      redis.command('ACL', 'SETUSER', 'portico', 'reset', 'on', `>${password}`, '~*', '+@all');
    await allow('first-password');
    const own = await authority.issue();
    const paths = {
      ca: file('own-ca', authority.ca),
      cert: file('own-cert', own.cert),
      key: file('own-key', own.key),
      password: file('own-password', 'first-password'),
    };
    const tls = `tls: { caFile: "${paths.ca}", certFile: "${paths.cert}", keyFile: "${paths.key}" }`;
    const shared = `username: portico, passwordFile: "${paths.password}", ${tls}`;
    const start = () => startReplica(`rediss://localhost:${port}`, { ...options, shared });
    const replicas = [await start(), await start()];
    const stop = load(() => replicas);
    const cut = () => redis.command('CLIENT', 'KILL', 'USER', 'portico');
    const told = async (line: string) => {
      for (const { process } of replicas) await eventually(() => process.takeStdout().includes(line));
    };
    const areUp = async () => {
      for (const replica of replicas) await eventually(async () => (await metric(replica, 'portico_shared_up')) === 1);
    };
    const away = (reason: string) => told(`"reason":"${reason}","msg":"Redis unavailable"`);

    // Certificates: ours ahead of Redis's, Redis's for another name, one that has expired, half a file, and all as it should be.
    file('own-ca', nextAuthority.ca);
    await cut();
    await away('tls');
    await showIdentity(redis, { ca: authority.ca, ...(await nextAuthority.issue()) });
    await areUp();
    await showIdentity(redis, { ca: authority.ca, ...(await nextAuthority.issue({ names: ['other.example'] })) });
    await cut();
    await away('tls');
    await showIdentity(redis, { ca: authority.ca, ...(await nextAuthority.issue({ days: [-3, -1] })) });
    file('own-ca', nextAuthority.ca.slice(0, 200));
    await told('"issue":"contains an unreadable certificate"');
    await showIdentity(redis, { ca: authority.ca, ...(await nextAuthority.issue()) });
    await areUp();
    file('own-ca', nextAuthority.ca);
    await told('certificates reloaded');
    await areUp();

    // Redis begins to ask for a certificate, and then for one of another authority.
    await redis.command('CONFIG', 'SET', 'tls-auth-clients', 'yes');
    await cut();
    await areUp();
    await showIdentity(redis, { ca: nextAuthority.ca, ...(await nextAuthority.issue()) });
    await cut();
    for (const replica of replicas) await eventually(async () => (await metric(replica, 'portico_shared_up')) === 0);
    const renewed = await nextAuthority.issue();
    file('own-cert', renewed.cert);
    await told('"issue":"does not match certFile"');
    file('own-key', renewed.key);
    await areUp();

    // The password: Redis's first, then ours, in all the wrong ways, and then well.
    await allow('second-password');
    await cut();
    await away('credential');
    file('own-password', '');
    await told('"issue":"is empty"');
    file('own-password', 'two\nlines');
    await told('"issue":"must contain one line of printable ASCII');
    rmSync(paths.password);
    await told('"issue":"cannot be read (ENOENT)"');
    file('own-password', 'second-password');
    await areUp();
    // Ours first: what is open goes on.
    file('own-password', 'third-password');
    await told('secret reloaded');
    await areUp();
    await allow('third-password');
    await cut();
    await areUp();
    await stop();
    expect(wrong).to.deep.equal([]);
    expect(reads).to.be.above(500);
    for (const { process } of replicas) {
      const { code, stdout, stderr } = await process.stop();
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout).to.not.match(/-password|token-of-caller|PRIVATE/);
    }
  });
});
