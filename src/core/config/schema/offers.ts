import type { Resource } from '../../resources/resource.ts';
import { didYouMean } from '../config-error.ts';
import type { CrossCheck } from './cross-check.ts';

interface Offers {
  readonly upstreams: Readonly<Record<string, unknown>>;
  readonly resources: Readonly<Record<string, Offer>>;
}

interface Offer {
  readonly enabled: boolean;
  readonly upstream?: string | undefined;
}

/** Checks that resources have their upstreams. An upstream without a resource is an issue: it may be the misspelt name of one. */
export function checkOffers(registry: readonly Resource[]): CrossCheck<Offers> {
  return ({ upstreams, resources }, report) => {
    const names = Object.keys(upstreams);
    const wanted = registry.filter(({ name }) => resources[name]?.enabled !== false);
    if (wanted.length === 0) {
      report(['resources'], 'are all disabled: at least one must be offered');
      return;
    }
    const upstreamOf = ({ name }: Resource) => resources[name]?.upstream ?? name;
    const missing = wanted.filter((resource) => !names.includes(upstreamOf(resource)));
    const unknown = missing.filter(({ name }) => resources[name]?.upstream !== undefined);
    for (const { name } of unknown) {
      const there = `there ${names.length === 1 ? 'is' : 'are'} ${names.join(', ') || 'none'}`;
      report(['resources', name, 'upstream'], `must be a key of upstreams: ${there}`);
    }
    if (unknown.length > 0) return;
    const used = new Set(registry.map(upstreamOf));
    const unused = names.filter((name) => !used.has(name));
    for (const name of unused) {
      const cure = didYouMean(name, missing.map(upstreamOf)) || `; set upstream: ${name} in those that it serves`;
      report(['upstreams', name], `is not the upstream of any resource${cure}`);
    }
    if (unused.length === 0 && missing.length === wanted.length) {
      report(['upstreams'], `must define the upstream of at least one resource: ${missing.map(upstreamOf).join(', ')}`);
    }
  };
}

/** Fills in what the checked settings leave to other keys: each resource's upstream, and whether it is offered. */
export function settleOffers<Settings extends Offers>(registry: readonly Resource[]): (settings: Settings) => Settings {
  return (settings) => {
    const settled = registry.flatMap(({ name }) => {
      const resource = settings.resources[name];
      if (resource === undefined) return [];
      const { upstream = name } = resource;
      return [
        [name, { ...resource, upstream, enabled: resource.enabled && Object.hasOwn(settings.upstreams, upstream) }],
      ];
    });
    return { ...settings, resources: { ...settings.resources, ...Object.fromEntries(settled) } };
  };
}
