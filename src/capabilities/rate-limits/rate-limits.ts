import { type Config, offeredIn } from '../../core/config/schema/settings.ts';
import { CREDENTIAL_KINDS } from '../../core/kernel/credential-kinds.ts';
import type { Resource } from '../../core/resources/resource.ts';
import { defineCapability } from '../capability.ts';
import { createLimits, limitSettings } from './request-limits.ts';

/** Limits of requests in a window of time: per caller and per address (docs/operations.md). */
export const rateLimits = defineCapability({
  settings: {
    key: 'limits',
    schema: limitSettings.prefault({}).describe('Rate limits of requests that need a token.'),
  },
  open(settings, { config, limits: bounds, resources, counts }) {
    let proving = resourcesThatProve(config, resources);
    const limits = createLimits(
      { ...settings, ...bounds.limits, provesToken: (resource) => proving.has(resource) },
      counts,
    );
    return (
      limits && {
        ...limits,
        onReload(changed) {
          proving = resourcesThatProve(changed, resources);
        },
      }
    );
  },
});

/** Returns the resources whose 2xx shows that the platform accepted the access token. None if callers send others beside it. */
function resourcesThatProve(config: Config, resources: readonly Resource[]): ReadonlySet<string> {
  const offered = offeredIn(config, resources).map(({ resource: { name }, settings: { upstream } }) => ({
    name,
    credential: config.upstreams[upstream]?.credential,
  }));
  const hasOther = offered.some(({ credential }) => credential?.kind === 'header' && credential.from !== undefined);
  const proving = offered.filter(({ credential }) => CREDENTIAL_KINDS[credential?.kind ?? 'none'].provesToken);
  return new Set(hasOther ? [] : proving.map(({ name }) => name));
}
