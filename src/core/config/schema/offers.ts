import type { Resource } from '../../resources/resource.ts';
import { didYouMean } from '../config-error.ts';
import { type CrossCheck, keysOf, type Report, type Unchecked } from './cross-check.ts';

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
  return (settings, report) => {
    if (typeof settings?.upstreams !== 'object' || settings.upstreams === null) return;
    const upstreams = keysOf(settings.upstreams);
    const wanted = registry.filter(({ name }) => settings.resources?.[name]?.enabled !== false);
    if (wanted.length === 0) {
      report(['resources'], 'are all disabled: at least one must be offered');
      return;
    }
    const upstreamOf = ({ name }: Resource) => settings.resources?.[name]?.upstream ?? name;
    if (reportUnknown(settings, upstreams, wanted, report)) return;
    const missing = wanted.map(upstreamOf).filter((name) => !upstreams.includes(String(name)));
    const used = new Set<unknown>(registry.map(upstreamOf));
    const unused = upstreams.filter((name) => !used.has(name));
    for (const name of unused) {
      report(['upstreams', name], `is not the upstream of any resource${didYouMean(name, missing.map(String))}`);
    }
    if (unused.length === 0 && missing.length === wanted.length) {
      report(['upstreams'], `must define the upstream of at least one resource: ${missing.join(', ')}`);
    }
  };
}

/** Reports upstreams that settings name and do not have. Returns whether there are any. */
function reportUnknown(
  { resources }: Exclude<Unchecked<Offers>, null | undefined>,
  upstreams: readonly string[],
  wanted: readonly Resource[],
  report: Report,
): boolean {
  const named = wanted.map(({ name }) => ({ name, upstream: resources?.[name]?.upstream }));
  const unknown = named.filter(({ upstream }) => upstream !== undefined && !upstreams.includes(String(upstream)));
  for (const { name, upstream } of unknown) {
    // A value of another type is already reported.
    if (typeof upstream !== 'string') continue;
    const there = `there ${upstreams.length === 1 ? 'is' : 'are'} ${upstreams.join(', ') || 'none'}`;
    report(['resources', name, 'upstream'], `must be a key of upstreams: ${there}`);
  }
  return unknown.length > 0;
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
