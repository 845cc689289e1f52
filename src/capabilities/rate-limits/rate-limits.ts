import { type Config, offeredIn } from '../../core/config/schema/settings.ts';
import type { Resource } from '../../core/resources/resource.ts';
import { defineCapability } from '../capability.ts';
import { createLimits, limitSettings } from './request-limits.ts';

/** Credential kinds that the platform verifies. */
const JUDGED_KINDS = ['passthrough', 'header', 'exchange'];

/** Limits of requests in a window of time: per caller, per address and in total (docs/decisions/0028). */
export const rateLimits = defineCapability({
  settings: {
    key: 'limits',
    schema: limitSettings.prefault({}).describe('Rate limits of requests that need a token.'),
  },
  open(settings, { config, limits: bounds, resources, counts }) {
    let judged = judgedIn(config, resources);
    const limits = createLimits(
      { ...settings, ...bounds.limits, isJudged: (resource) => judged.has(resource) },
      counts,
    );
    return (
      limits && {
        ...limits,
        onReload(changed) {
          judged = judgedIn(changed, resources);
        },
      }
    );
  },
});

/** Returns the resources whose 2xx shows that the platform accepted the access token. None if callers send others beside it. */
function judgedIn(config: Config, resources: readonly Resource[]): ReadonlySet<string> {
  const offered = offeredIn(config, resources).map(({ resource: { name }, settings: { upstream } }) => ({
    name,
    credential: config.upstreams[upstream]?.credential,
  }));
  const hasOther = offered.some(({ credential }) => credential?.kind === 'header' && credential.from !== undefined);
  const judged = offered.filter(({ credential }) => JUDGED_KINDS.includes(credential?.kind ?? 'none'));
  return new Set(hasOther ? [] : judged.map(({ name }) => name));
}
