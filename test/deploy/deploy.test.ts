import { expect } from 'chai';
import { parse } from 'yaml';
import { checkedSettings, deployed, expectPodFits, find, manifestsIn } from './deployed.ts';

const ENVIRONMENT = { PLATFORM_URL: 'https://platform.example.com' };

describe('the manifests for Kubernetes', () => {
  for (const file of ['portico', 'sidecar']) {
    it(`agree with their settings, which pass check: ${file}`, async () => {
      await expectPodFits(manifestsIn(deployed(`kubernetes/${file}.yaml`)));
    });
  }

  it('let only the namespace of the scraper reach the admin listener', () => {
    const { ingress } = find(manifestsIn(deployed('kubernetes/portico.yaml')), 'NetworkPolicy').spec;
    const admin = ingress.filter(({ ports }: { ports?: readonly { port: string }[] }) =>
      (ports ?? [{ port: 'admin' }]).some(({ port }) => port !== 'http'),
    );
    const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } };
    expect(admin).to.deep.equal([{ from: [{ namespaceSelector }], ports: [{ protocol: 'TCP', port: 'admin' }] }]);
  });
});

describe('the Compose files', () => {
  const { services } = parse(deployed('compose/compose.yaml'), { merge: true });

  it('hold settings that pass check, within their grace period', async () => {
    const { http, shutdown } = await checkedSettings(deployed('compose/portico.yaml'), ENVIRONMENT);
    expect(services.portico.ports).to.deep.equal([`127.0.0.1:8080:${http.port}`]);
    const graceMs = Number.parseInt(services.portico.stop_grace_period, 10) * 1000;
    expect(graceMs).to.be.at.least(shutdown.delayMs + shutdown.graceMs + 1000);
  });

  it('have a variant of replicas whose settings name its store', async () => {
    const config = await checkedSettings(deployed('compose/portico-fleet.yaml'), ENVIRONMENT);
    const fleet = parse(deployed('compose/fleet.yaml'));
    expect(config).to.have.nested.property('shared.url', 'redis://valkey:6379');
    expect(Object.keys(fleet.services)).to.include('valkey');
    expect(fleet.services.portico).to.not.have.property('depends_on');
  });
});

describe('the unit of systemd', () => {
  const unit = deployed('systemd/portico.service');
  const entryOf = (key: string) => new RegExp(`^${key}=(.*)$`, 'm').exec(unit)?.[1] ?? expect.fail(key);

  it('has settings that pass check, within its grace period and descriptors', async () => {
    const { shutdown, http } = await checkedSettings(deployed('systemd/portico.yaml'));
    expect(Number(entryOf('TimeoutStopSec')) * 1000).to.be.at.least(shutdown.delayMs + shutdown.graceMs + 1000);
    expect(Number(entryOf('LimitNOFILE'))).to.be.greaterThan(2 * http.maxConnections);
  });

  it('has a template for processes that share a port, which differs in user and admin port alone', () => {
    const withoutComments = (text: string) => text.replaceAll(/^#.*\n/gm, '');
    const one = deployed('systemd/portico@.service')
      .replace('User=portico\n', '')
      .replace(' ADMIN_PORT=%i', '')
      .replace('Portico (admin port %i)', 'Portico');
    expect(withoutComments(one)).to.equal(withoutComments(unit));
  });
});
