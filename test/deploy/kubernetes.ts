import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import type { SharedSettings } from '../../src/capabilities/shared-cache/shared-settings.ts';
import { loadSettings } from '../../src/composition.ts';
import type { LoadedConfig } from '../../src/core/config/load-config.ts';
import { inFolder, startProcess, writeSettings } from '../support/process/process.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** An object of Kubernetes, or a part of one, as a manifest has it. Its schemas and types are checked by {@link issuesOf}. */
// biome-ignore lint/suspicious/noExplicitAny: manifests are taken apart here.
export type Manifest = any;

export function manifestsIn(text: string): Manifest[] {
  const documents = parseAllDocuments(text);
  if (!Array.isArray(documents)) return [];
  for (const { errors } of documents) expect(errors).to.deep.equal([]);
  return documents.map((document) => document.toJS()).filter((manifest) => manifest !== null);
}

/** Returns the errors by the schemas of Kubernetes, and by its types, which reject unknown keys. */
export async function issuesOf(manifests: readonly Manifest[]): Promise<string[]> {
  const issues: string[] = [];
  const sources: string[] = [];
  for (const [index, manifest] of manifests.entries()) {
    const { apiVersion, kind } = manifest;
    const module = `${apiVersion.startsWith('monitoring.coreos.com/') ? '@kubernetes-models/prometheus-operator' : 'kubernetes-models'}/${apiVersion}`;
    const models = await import(module);
    try {
      new models[kind](manifest).validate();
    } catch (error) {
      issues.push(`${kind}: ${(error as Error).message}`);
    }
    sources.push(
      `import type { I${kind} as T${index} } from '${module}';`,
      `export const m${index}: T${index} = ${JSON.stringify(manifest, null, 1)};`,
    );
  }
  await inFolder(async (folder) => {
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    await writeFile(join(folder, 'manifests.ts'), sources.join('\n'));
    const flags = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2024'];
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const { code, stdout } = await startProcess(process.execPath, [tsc, ...flags, 'manifests.ts'], { cwd: folder })
      .ended;
    if (code !== 0) issues.push(stdout);
  });
  return issues;
}

/** Loads settings that pass `portico check` without a warning. */
export async function checkedSettings(yaml: string, environment = {}): Promise<LoadedConfig['config']> {
  return inFolder(async (folder) => {
    const { config, warnings } = await loadSettings(await writeSettings(folder, yaml), environment);
    expect(warnings).to.deep.equal([]);
    return config;
  });
}

export function find(manifests: readonly Manifest[], kind: string): Manifest {
  return manifests.find((manifest) => manifest.kind === kind) ?? expect.fail(`there is no ${kind}`);
}

const MIB = 1_048_576;
/** What a process takes with nothing to do, and what else its heap may hold. */
const BASE_BYTES = 220 * MIB;
/** Values that are sealed and opened at once, and commands that Redis has not answered. */
const SEALING_BYTES = 96 * MIB;

export function sharedOf(config: LoadedConfig['config']): SharedSettings | undefined {
  return (config as { readonly shared?: SharedSettings }).shared;
}

/** What settings let callers and platforms make grow, all of it at once. */
export function boundedBytes(config: LoadedConfig['config']): number {
  const { cache, maxLoadingBytes, http, mcp } = config;
  const grown = [cache.maxBytes, maxLoadingBytes, http.maxUnsentBytes, http.maxHeldBodyBytes];
  const ofMcp = [mcp.maxEscapingBytes, 2 * mcp.maxParsedBytes];
  const ofShared = sharedOf(config) === undefined ? [] : [SEALING_BYTES];
  return BASE_BYTES + [...grown, ...ofMcp, ...ofShared].reduce((sum, bytes) => sum + bytes);
}

function bytesOf(quantity: string): number {
  const [, number, unit] = /^(\d+)(Mi|Gi)$/.exec(quantity) ?? expect.fail(quantity);
  return Number(number) * (unit === 'Gi' ? 1024 : 1) * MIB;
}

/** Holds the pod of a Deployment to the settings in its ConfigMap: ports, probes, memory, user, and the time to end. */
export async function expectPodFits(manifests: readonly Manifest[]): Promise<void> {
  const config = await checkedSettings(find(manifests, 'ConfigMap').data?.['portico.yaml'] ?? '');
  const { template } = find(manifests, 'Deployment').spec;
  const pod = template.spec;
  const containers: Manifest[] = [...(pod.initContainers ?? []), ...pod.containers];
  const container = containers.find(({ name }) => name === 'portico') ?? expect.fail('portico');
  const ports = new Map<string, number>(
    container.ports.map(({ name, containerPort }: Manifest) => [name, containerPort]),
  );
  const listeners = { http: config.http, admin: config.admin };
  for (const [name, port] of ports) {
    const { host, port: listened } = listeners[name as 'http' | 'admin'];
    expect(port, name).to.equal(listened);
    // A kubelet, a Service and a scraper cannot reach loopback.
    expect(host, name).to.equal('0.0.0.0');
  }
  if (config.admin.enabled) expectAdminGuarded(manifests);
  const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe];
  expect(probes.map(({ httpGet }) => httpGet.path)).to.deep.equal(['/readyz', '/livez', '/readyz']);
  for (const { httpGet } of probes) {
    expect([...ports.keys()]).to.include(httpGet.port);
    const { tls } = listeners[httpGet.port as 'http' | 'admin'];
    expect(httpGet.scheme ?? 'HTTP').to.equal(tls === undefined ? 'HTTP' : 'HTTPS');
    // A kubelet presents no client certificate.
    expect(tls?.clientCaFile).to.equal(undefined);
  }
  const { delayMs, graceMs } = config.shutdown;
  // Half a second for the last lines of the log, and as much for the rest.
  expect(pod.terminationGracePeriodSeconds * 1000).to.be.at.least(delayMs + graceMs + 1000);
  expect(bytesOf(container.resources.limits.memory)).to.be.at.least(boundedBytes(config));
  const security = { ...pod.securityContext, ...container.securityContext };
  expect(security).to.deep.include({
    runAsNonRoot: true,
    runAsUser: 1000,
    seccompProfile: { type: 'RuntimeDefault' },
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
}

/** A NetworkPolicy of exactly these pods lets one namespace reach the admin listener, and nothing else does. */
function expectAdminGuarded(manifests: readonly Manifest[]): void {
  const { podSelector, policyTypes, ingress } = find(manifests, 'NetworkPolicy').spec;
  const { matchLabels } = podSelector;
  expect(matchLabels).not.to.deep.equal({});
  expect(find(manifests, 'Deployment').spec.template.metadata.labels).to.deep.include(matchLabels);
  expect(policyTypes).to.include('Ingress');
  const isGuarded = ({ ports }: Manifest) => ports === undefined || ports.some(({ port }: Manifest) => port !== 'http');
  const rules = ingress.filter(isGuarded);
  expect(rules).to.deep.equal([
    {
      from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
      ports: [{ protocol: 'TCP', port: 'admin' }],
    },
  ]);
}

/** Expects that selectors match the labels of the pods, and that ports have the names of the container's. */
function expectServiceFits(manifests: readonly Manifest[]): void {
  const { template, selector } = find(manifests, 'Deployment').spec;
  const { labels } = template.metadata;
  expect(labels).to.deep.include(selector.matchLabels);
  const { selector: chosen, ports } = find(manifests, 'Service').spec;
  expect(labels).to.deep.include(chosen);
  const [portico] = template.spec.containers;
  const named = portico.ports.map(({ name }: Manifest) => name);
  for (const { targetPort } of ports) expect(named).to.include(targetPort);
}

/** Several replicas have all that keeps them available and out of reach, and nothing else. */
export function expectAvailable(manifests: readonly Manifest[]): void {
  expect(manifests.map(({ kind }) => kind)).to.have.members([
    ...['ServiceAccount', 'ConfigMap', 'Deployment', 'Service'],
    ...['HorizontalPodAutoscaler', 'PodDisruptionBudget', 'NetworkPolicy'],
  ]);
  expectServiceFits(manifests);
}
