import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import { loadSettings } from '../../src/composition.ts';
import type { LoadedConfig } from '../../src/core/config/load-config.ts';
import { settingsFile } from '../support/process/process.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** An object of Kubernetes, as a manifest has it. */
// biome-ignore lint/suspicious/noExplicitAny: manifests are taken apart here.
export type Manifest = any;

export function deployed(name: string): string {
  return readFileSync(`${ROOT}/deploy/${name}`, 'utf8');
}

export function manifestsIn(text: string): Manifest[] {
  const documents = parseAllDocuments(text);
  if (!Array.isArray(documents)) return [];
  for (const { errors } of documents) expect(errors).to.deep.equal([]);
  return documents.map((document) => document.toJS()).filter((manifest) => manifest !== null);
}

export function find(manifests: readonly Manifest[], kind: string): Manifest {
  return manifests.find((manifest) => manifest.kind === kind) ?? expect.fail(`there is no ${kind}`);
}

/** Loads settings that pass `portico check` without a warning. */
export async function checkedSettings(yaml: string, environment = {}): Promise<LoadedConfig['config']> {
  const { config, warnings } = await loadSettings(await settingsFile(yaml), environment);
  expect(warnings).to.deep.equal([]);
  return config;
}

/** Expects that the pod agrees with the settings in its ConfigMap: ports, probes, time to end, and privileges. */
export async function expectPodFits(manifests: readonly Manifest[]): Promise<void> {
  const config = await checkedSettings(find(manifests, 'ConfigMap').data?.['portico.yaml'] ?? '');
  const pod = find(manifests, 'Deployment').spec.template.spec;
  const containers: Manifest[] = [...(pod.initContainers ?? []), ...pod.containers];
  const container = containers.find(({ name }) => name === 'portico') ?? expect.fail('portico');
  const listeners = { http: config.http, admin: config.admin };
  for (const { name, containerPort } of container.ports) {
    // A kubelet, a Service and a scraper cannot reach loopback.
    expect(listeners[name as 'http' | 'admin'], name).to.include({ host: '0.0.0.0', port: containerPort });
  }
  for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
    const { path, port, scheme = 'HTTP' } = container[probe].httpGet;
    expect(path).to.equal(probe === 'livenessProbe' ? '/livez' : '/readyz');
    const { tls } = listeners[port as 'http' | 'admin'];
    expect(scheme).to.equal(tls === undefined ? 'HTTP' : 'HTTPS');
    // A kubelet presents no client certificate.
    expect(tls?.clientCaFile).to.equal(undefined);
  }
  const { delayMs, graceMs } = config.shutdown;
  expect(pod.terminationGracePeriodSeconds * 1000).to.be.at.least(delayMs + graceMs + 1000);
  expect({ ...pod.securityContext, ...container.securityContext }).to.deep.include({
    ...{ runAsNonRoot: true, allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
    capabilities: { drop: ['ALL'] },
  });
}
