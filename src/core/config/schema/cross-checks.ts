import { CREDENTIAL_KINDS } from '../../kernel/credential-kinds.ts';
import type { Resource } from '../../resources/resource.ts';
import { didYouMean } from '../config-error.ts';
import { callerValuesIn, partsWithValues } from './caller-values.ts';
import type { CrossCheck } from './cross-check.ts';
import { inboundHeader, listenHost } from './scalars.ts';
import { checkSecret } from './secret.ts';
import type { SettingsShape } from './settings-shape.ts';

type Check = CrossCheck<SettingsShape>;
type OneResource = SettingsShape['resources'][keyof SettingsShape['resources']];

/** Checks of blocks of settings against each other. */
export function crossChecks(registry: readonly Resource[]): readonly Check[] {
  return [
    checkOffers(registry),
    checkParents(registry),
    checkCallers,
    checkVerification,
    checkPorts,
    checkHosts,
    checkCallerValues,
  ];
}

/** Checks that resources have their upstreams. An upstream without a resource is an issue: it may be the misspelt name of one. */
function checkOffers(registry: readonly Resource[]): Check {
  return ({ upstreams, resources }, report) => {
    const names = Object.keys(upstreams);
    const all: Readonly<Record<string, OneResource>> = resources;
    const wanted = registry.filter(({ name }) => all[name]?.enabled !== false);
    if (wanted.length === 0) return report(['resources'], 'are all disabled: at least one must be offered');
    const upstreamOf = ({ name }: Resource) => all[name]?.upstream ?? name;
    const missing = wanted.filter((resource) => !names.includes(upstreamOf(resource)));
    const unknown = missing.filter(({ name }) => all[name]?.upstream !== undefined);
    for (const { name } of unknown) {
      report(['resources', name, 'upstream'], `must be a key of upstreams: ${names.join(', ') || 'there is none'}`);
    }
    const used = registry.map(upstreamOf);
    const unused = unknown.length > 0 ? [] : names.filter((name) => !used.includes(name));
    for (const name of unused) {
      const cure = didYouMean(name, missing.map(upstreamOf)) || `; set upstream: ${name} in those that it serves`;
      report(['upstreams', name], `is not the upstream of any resource${cure}`);
    }
    if (unknown.length + unused.length === 0 && missing.length === wanted.length) {
      report(['upstreams'], `must define the upstream of at least one resource: ${missing.map(upstreamOf).join(', ')}`);
    }
  };
}

/** Fills in what the checked settings leave to other keys: each resource's upstream, and whether it is offered. */
export function settleOffers(registry: readonly Resource[]): (settings: SettingsShape) => SettingsShape {
  return (settings) => {
    const all: Readonly<Record<string, OneResource>> = settings.resources;
    const settled = registry.flatMap(({ name }) => {
      const resource = all[name];
      if (resource === undefined) return [];
      const { upstream = name } = resource;
      const enabled = resource.enabled && Object.hasOwn(settings.upstreams, upstream);
      return [[name, { ...resource, upstream, enabled }]];
    });
    return { ...settings, resources: { ...settings.resources, ...Object.fromEntries(settled) } };
  };
}

/** Checks that a named parent is another resource of the same upstream, which is one list and has no parent itself. */
function checkParents(registry: readonly Resource[]): Check {
  return ({ resources }, report) => {
    const all: Readonly<Record<string, OneResource>> = resources;
    for (const [name, { each, upstream = name }] of Object.entries(resources)) {
      if (typeof each !== 'string') continue;
      const parent = all[each];
      const place = ['resources', name, 'each'];
      const others = registry.filter((resource) => resource.name !== name).map((resource) => resource.name);
      if (!others.includes(each)) report(place, `must be another resource: ${others.join(', ')}`);
      else if (parent?.each !== undefined) report(place, `names ${each}, which has a parent itself`);
      else if (parent?.lists !== undefined) report(place, `names ${each}, which consists of several lists`);
      else if ((parent?.upstream ?? each) !== upstream) report(place, `names ${each}, which has another upstream`);
    }
  };
}

/** Checks that callers are verified where a platform does not check their tokens. */
const checkCallers: Check = (settings, report) => {
  if (settings.allowUnverifiedCallers || settings.verification !== undefined) return;
  for (const [name, { credential }] of Object.entries(settings.upstreams)) {
    if (CREDENTIAL_KINDS[credential.kind].provesToken) continue;
    report(
      ['upstreams', name, 'credential', 'kind'],
      `${credential.kind} gives every caller the same access, and callers are not verified: set verification, or allowUnverifiedCallers: true if this is intended`,
    );
  }
};

/** Checks that verification has an audience, and that scopes are not required without it. */
const checkVerification: Check = ({ verification, publicUrl, mcp, resources }, report) => {
  if (verification === undefined) {
    for (const [name, { requiredScopes }] of Object.entries(resources)) {
      if (requiredScopes.length === 0) continue;
      report(
        ['resources', name, 'requiredScopes'],
        'needs verification: without it, the scopes of a token are unknown',
      );
    }
    return;
  }
  if (verification.audience === undefined && publicUrl === undefined) {
    report(['verification', 'audience'], 'is required if publicUrl is not set');
  }
  if (verification.authorizationServers.length > 0) {
    const path = ['verification', 'authorizationServers'];
    if (publicUrl === undefined) report(path, 'needs publicUrl: tokens are issued for that address');
    if (!mcp.enabled) report(path, 'needs mcp.enabled: tokens are issued for /mcp');
  }
  if (verification.introspection !== undefined) {
    checkSecret(verification.introspection, ['verification', 'introspection'], report);
  }
};

const checkPorts: Check = ({ http, admin }, report) => {
  if (http.socketPath !== undefined || !admin.enabled || admin.port === 0) return;
  if (http.port === admin.port)
    report(['admin', 'port'], 'must differ from http.port: each listener needs its own port');
};

/** Whether a listener answers for any `Host` (docs/decisions/0005). */
export function acceptsAnyHost(
  http: Pick<SettingsShape['http'], 'socketPath' | 'allowedHosts' | 'host'>,
  publicUrl: string | undefined,
): boolean {
  if (http.socketPath !== undefined || http.allowedHosts !== undefined || publicUrl !== undefined) return false;
  return !/^(?:localhost$|::1$|127\.)/.test(http.host);
}

const checkHosts: Check = ({ http, publicUrl, verification }, report) => {
  if (verification !== undefined || !listenHost.safeParse(http.host).success || !acceptsAnyHost(http, publicUrl))
    return;
  report(
    ['http', 'allowedHosts'],
    'is required if http.host is not a loopback address and neither publicUrl nor verification is set, because of DNS rebinding: list each Host that clients send, such as http.allowedHosts: ["portico.example.com"]',
  );
};

/** Checks that claims are verified, and that headers mean nothing else. */
const checkCallerValues: Check = ({ upstreams, resources, verification }, report) => {
  const blocks = [
    ...Object.entries(upstreams).map(([name, { headers }]) => [['upstreams', name, 'headers'], headers] as const),
    ...Object.entries(resources).flatMap(([name, resource]) =>
      Object.entries(partsWithValues(resource)).map(([key, part]) => [['resources', name, key], part] as const),
    ),
  ];
  for (const [place, block] of blocks) {
    for (const name of callerValuesIn(block)) {
      const header = /^header\.(.+)$/.exec(name)?.[1];
      const issue = header && inboundHeader.safeParse(header).error?.issues[0];
      if (issue) report(place, `{${name}} ${issue.message}`);
      if (header === undefined && verification === undefined) {
        report(place, `{${name}} needs verification: without it, the claims of a token are unknown`);
      }
    }
  }
};
