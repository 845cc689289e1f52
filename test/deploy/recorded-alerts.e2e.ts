import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Authority, createAuthority, writePem } from '../support/certificates.ts';
import { onCleanup } from '../support/cleanup.ts';
import {
  AS_IT_IS,
  type Redis,
  type RedisProxy,
  startRedis,
  startRedisProxy,
  type Treatment,
} from '../support/fleet/redis.ts';
import { json, lists } from '../support/platform/http-upstream.ts';
import { manyTools } from '../support/platform/loads.ts';
import { childrenOf } from '../support/process/process.ts';
import { needsCommands } from '../support/tools.ts';
import { shippedAlerts } from './recorder.ts';
import { play, repeat, type Scenario, type Scene, type SceneSettings } from './scene.ts';

const portOf = (url: string) => Number(new URL(url).port);

/** Reads projects as many callers, who begin one after the other. */
function readAsMany({ read }: Scene, callers: number, gapMs = 0): void {
  for (let caller = 0; caller < callers; caller += 1) {
    void sleep(caller * gapMs).then(() => repeat(() => read('projects', `token-${caller}.`), 1));
  }
}

/** Sends reads of tools on one connection, so many every ten milliseconds, whatever becomes of them. */
function sendReads(url: string, count: number): void {
  const request =
    'GET /mcp/v1/resources/read?uri=platform://tools HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer token.\r\n\r\n';
  const socket = connect(portOf(url), '127.0.0.1')
    .on('error', () => {})
    .resume();
  onCleanup(() => socket.destroy());
  repeat(async () => void (socket.writableNeedDrain || socket.write(request.repeat(count))), 10);
}

/** Opens connections that stay idle. */
function openIdle(url: string, connections: number): void {
  for (let count = 0; count < connections; count += 1) {
    const socket = connect(portOf(url), '127.0.0.1').on('error', () => {});
    onCleanup(() => socket.destroy());
  }
}

/** Has the platform respond so much later. */
function respondLate({ platform }: Scene, ms: number): void {
  const respond = lists({ tools: manyTools(3) });
  platform.respond((request, response) => void setTimeout(respond, ms, request, response));
}

async function writeSecret(folder: string, name = 'secret'): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, 'a secret of the deployment, long enough');
  return file;
}

/** The deployment's own credential for the platform. */
async function ownCredential({ folder }: Pick<Scene, 'folder'>): Promise<SceneSettings> {
  const credential = { kind: 'service', file: await writeSecret(folder) };
  return { upstream: { credential }, allowUnverifiedCallers: true };
}

/** What Redis responds to every command while it starts. */
const FAILING: Treatment = (_reply, say) => say(Buffer.from('-LOADING Redis is loading the dataset in memory\r\n'));

/** The admin listener is scraped, and the public one gets a certificate of so many days. */
function expiringIn(days: number, fires: readonly string[], shows: RegExp): Scenario {
  let authority: Authority;
  return {
    async settings({ folder }) {
      authority = await createAuthority();
      const { cert: certFile, key: keyFile } = writePem(folder, await authority.issue());
      return { http: { tls: { certFile, keyFile } } };
    },
    reads: [],
    provoke: async ({ folder }) => void writePem(folder, await authority.issue({ days: [-1, days] })),
    faulty: 60,
    fires,
    shows: [shows],
  };
}

let redis: Redis;
let proxy: RedisProxy;
const shared = async ({ folder }: Pick<Scene, 'folder'>) => {
  redis = await startRedis();
  proxy = await startRedisProxy(redis);
  return { shared: { url: proxy.redisUrl, timeoutMs: 200, keySecretFile: await writeSecret(folder) } };
};

const CLAIMS = { active: true, iss: 'https://issuer.example', aud: 'portico', sub: 'caller' };

let tokens = 0;
/** The token of another caller. */
function nextToken(): string {
  tokens += 1;
  return `token-${tokens}.`;
}

/** Faults of a real process, by their names. */
const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'a healthy platform': { reads: ['tools', 'projects'], provoke: () => {}, faulty: 80, fires: [], shows: [] },
  'a process that is gone': { provoke: ({ portico }) => void portico.child.kill('SIGKILL'), fires: ['PorticoDown'] },
  'a scrape job that is gone': { provoke: () => {}, isScraped: false, fires: ['PorticoAbsent'] },
  'a platform that fails': {
    reads: ['tools', 'projects'],
    provoke: ({ platform }) => platform.respond(json({}, 503)),
    fires: ['PorticoReadsFailing', 'PorticoBreakerOpen', 'PorticoServingStale'],
    shows: [
      /^platform: breaker (open|half-open) for \d+ s after \d+ × 503$/,
      /^projects: \d+ of \d+ reads failed in the last minute \(breaker_open\)$/,
      /^tools: served stale for \d+ s \(breaker_open\)$/,
    ],
    reason: /^\d+ of \d+ calls failed; the last: upstream_failed, answered with status 503$/,
  },
  "a platform that rejects the deployment's credential": {
    settings: ownCredential,
    reads: ['projects'],
    provoke: ({ platform }) => platform.respond(json({}, 401)),
    fires: ['PorticoReadsFailing', 'PorticoOwnCredentialRefused'],
    shows: [/^projects: \d+ of \d+ reads failed in the last minute \(upstream_credential_rejected\)$/],
    reason: /^answered with status 401$/,
  },
  'an issuer that fails': {
    async settings({ platform, folder }) {
      platform.respond((request, response) =>
        (request.url === '/introspect' ? json({ ...CLAIMS, exp: Date.now() / 1000 + 3600 }) : lists({}))(
          request,
          response,
        ),
      );
      const introspection = { url: `${platform.url}/introspect`, clientId: 'portico', file: await writeSecret(folder) };
      return { verification: { issuer: CLAIMS.iss, audience: CLAIMS.aud, introspection } };
    },
    reads: [],
    provoke(scene) {
      scene.platform.respond(json({}, 503));
      repeat(() => scene.read('projects', nextToken()));
    },
    fires: ['PorticoCannotVerify', 'PorticoBreakerOpen'],
    shows: [
      /^verification\.introspection: breaker (open|half-open) for \d+ s after \d+ × 503$/,
      /^tokens: \d+ could not be verified in the last minute$/,
    ],
    reason: /^the issuer failed repeatedly/,
  },
  'a bug': {
    env: { NODE_OPTIONS: `--import data:text/javascript,process.memoryUsage.rss=()=>{throw(new(Error))}` },
    provoke: ({ adminUrl }) => void repeat(() => fetch(`${adminUrl}/status`).then((response) => response.text())),
    fires: ['PorticoInternalError'],
  },
  'workers that are killed': {
    args: ['--workers', '2'],
    provoke: ({ portico: { child } }) =>
      void repeat(async () => {
        const [worker] = await childrenOf(child.pid ?? 0);
        if (worker !== undefined) process.kill(worker, 'SIGKILL');
      }, 1500),
    faulty: 80,
    fires: ['PorticoWorkersEnding'],
  },
  'a process without processor time': {
    provoke({ portico: { child } }) {
      const end = repeat(async () => {
        child.kill('SIGSTOP');
        await sleep(400);
        child.kill('SIGCONT');
        await sleep(200);
      }, 0);
      setTimeout(end, 5000);
    },
    fires: ['PorticoEventLoopLate'],
    shows: [/^event loop: p95 of its delay \d+ ms in the last minute$/],
  },
  'a slow platform': {
    provoke(scene) {
      respondLate(scene, 3000);
      readAsMany(scene, 20, 150);
    },
    faulty: 100,
    fires: ['PorticoPlatformSlow'],
    shows: [/^platform: p95 [\d.]+ s in the last minute$/],
  },
  'a platform with too few connections': {
    settings: () => ({ upstream: { connections: 1, maxQueue: 10 } }),
    reads: [],
    async provoke(scene) {
      // New callers have half of the queue.
      for (let caller = 0; caller < 10; caller += 1) await scene.read('projects', `token-${caller}.`);
      respondLate(scene, 300);
      readAsMany(scene, 10);
    },
    fires: ['PorticoQueueing'],
    shows: [/^platform: \d+ of 10 calls queued$/],
  },
  'a platform whose lists have changed': {
    settings({ platform }) {
      platform.respond(lists({ tools: [{ id: 'a', name: 'A', release: '1.0.0' }] }));
      return { tools: { invalidItems: 'drop', fields: { version: 'release' } } };
    },
    provoke: ({ platform }) => platform.respond(lists({ tools: [{ id: 'a', name: 'A' }, { name: 'no id' }] })),
    faulty: 60,
    fires: ['PorticoMappingDoubtful', 'PorticoItemsDropped'],
    shows: [/^tools: 1 of 2 items could not be mapped, version is empty in every item$/],
  },
  'a platform that has renamed a member and a value': {
    settings({ platform }) {
      platform.respond(lists({ tools: manyTools(5).map((tool) => ({ ...tool, kind: 'edr', release: '1.0.0' })) }));
      return { tools: { fields: { version: 'release', category: { from: 'kind', values: { edr: 'EDR' } } } } };
    },
    provoke: ({ platform }) =>
      platform.respond(lists({ tools: manyTools(5).map((tool) => ({ ...tool, kind: 'xdr', current: '1.0.0' })) })),
    faulty: 60,
    fires: ['PorticoListDrifted'],
    shows: [
      /^tools: version is empty in every item, and was not before, category has texts that values does not map, and had none before$/,
    ],
  },
  'a list that has grown beyond its bound': {
    settings: () => ({ tools: { maxItems: 5 } }),
    provoke: ({ platform }) => platform.respond(lists({ tools: manyTools(6) })),
    faulty: 60,
    fires: ['PorticoBoundReached', 'PorticoServingStale'],
    shows: [/^tools: served stale for \d+ s \(upstream_invalid\)$/, /^maxItems: \d+ times reached in ten minutes$/],
    reason: /^the list has more items than maxItems: 5$/,
  },
  'a caller above its limit': {
    settings: () => ({ limits: { perCaller: 100 } }),
    reads: [],
    provoke: ({ url }) => sendReads(url, 10),
    faulty: 60,
    fires: ['PorticoRateLimited'],
    shows: [/^rate limits: \d+ rejected in the last minute$/],
    reason: /^limits\.perCaller is reached: 100 in 60 s$/,
  },
  'a cache that is too small for its callers': {
    settings: () => ({ cache: { maxBytes: 65_536 } }),
    provoke: (scene) => void repeat(() => scene.read('workflows', nextToken()), 5),
    faulty: 120,
    fires: ['PorticoSnapshotsCrowded'],
  },
  'a listener with as many connections as it accepts': {
    settings: () => ({ http: { maxConnections: 20 } }),
    reads: [],
    provoke: ({ url }) => openIdle(url, 20),
    fires: ['PorticoConnectionsFull'],
    shows: [/^http listener: 20 of 20 connections open$/],
  },
  'a process with few descriptors': {
    command: ['prlimit', '--nofile=1000:1000'],
    reads: [],
    // Fewer connections are accepted than that limit.
    provoke: ({ url }) => openIdle(url, 850),
    fires: ['PorticoConnectionsFull', 'PorticoDescriptorsShort'],
    shows: [
      /^descriptors: \d+ of 1000 open$/,
      /^http listener: \d+ of \d+ connections open$/,
      /^http\.maxConnections: \d+ times reached in ten minutes$/,
    ],
  },
  'a settings file with a mistake': {
    async provoke({ file, portico }) {
      await writeFile(file, 'upstreams: []');
      portico.child.kill('SIGHUP');
    },
    fires: ['PorticoSettingsRefused'],
    shows: [/^settings: refused for \d+ s: \S+portico\.yaml:1:1: upstreams: expected a block of keys, got a list$/],
  },
  'a secret file without content': {
    settings: ownCredential,
    provoke: ({ folder }) => writeFile(join(folder, 'secret'), ''),
    faulty: 60,
    fires: ['PorticoFileUnusable'],
    shows: [/^platform: secret file unusable for \d+ s \(is empty\)$/],
  },
  'a certificate that is renewed by one of ten days': expiringIn(
    10,
    ['PorticoCertificateExpiring'],
    /^http\.tls\.certFile: expires in 9 d$/,
  ),
  'a certificate that is renewed by one of two days': expiringIn(
    2,
    ['PorticoCertificateExpiring', 'PorticoCertificateAlmostExpired'],
    /^http\.tls\.certFile: expires in 1 d$/,
  ),
  'a Redis that is gone': {
    settings: shared,
    provoke: () => redis.stop(),
    faulty: 60,
    fires: ['PorticoSharedStoreLost'],
    shows: [/^Redis: unreachable for \d+ s \(\w+\)$/],
  },
  'a full Redis': {
    settings: shared,
    provoke: () => redis.command('CONFIG', 'SET', 'maxmemory', '1'),
    fires: ['PorticoSharedStoreFull'],
    shows: [/^Redis: \d+ commands refused in the last minute: its memory is full$/],
  },
  'a Redis that fails again and again': {
    settings: shared,
    provoke: () =>
      void repeat(async () => {
        proxy.treat(FAILING);
        await sleep(1200);
        proxy.treat(AS_IT_IS);
        await sleep(800);
      }, 0),
    everyMs: 500,
    fires: ['PorticoSharedStoreFlapping'],
  },
  'a log that is not read': {
    provoke({ portico, url }) {
      portico.child.stdout.pause();
      sendReads(url, 40);
    },
    faulty: 100,
    fires: ['PorticoLogLinesDropped'],
    shows: [/^log: \d+ lines dropped$/],
  },
  'an audit file that cannot be written': {
    settings: async ({ folder }) => ({
      audit: { enabled: true, keyFile: await writeSecret(folder), file: join(folder, 'audit.log') },
    }),
    provoke({ portico, url }) {
      expect(spawnSync('prlimit', ['--pid', `${portico.child.pid}`, '--fsize=1:unlimited']).status).to.equal(0);
      sendReads(url, 40);
    },
    faulty: 100,
    fires: ['PorticoAuditLinesDropped'],
    shows: [/^audit: \d+ lines dropped$/],
  },
};

describe('the alert rules, on what a process exports', function () {
  // Short of processor time, an event loop is late, which is an alert of its own, and a fault may not come about.
  this.retries(2);

  before(function () {
    needsCommands(this, ['promtool', 'prlimit', 'redis-server']);
  });

  for (const [name, scenario] of Object.entries(SCENARIOS)) {
    const also = scenario.shows === undefined ? '' : ', as the status page shows';
    it(`fire ${scenario.fires.join(', ') || 'no alert'}${also}: ${name}`, () => play(scenario));
  }

  it('fire under one of these faults each', () => {
    const fired = Object.values(SCENARIOS).flatMap(({ fires }) => fires);
    expect([...new Set(fired)]).to.have.members(shippedAlerts().map(({ alert }) => alert));
  });
});
