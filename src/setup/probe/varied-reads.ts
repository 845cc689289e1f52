import { assertDefined, type Config, type ResourceConfig } from '../../core/config/schema/settings.ts';
import type { AuthorizationSettings } from '../../core/credentials/authorize.ts';
import { GatewayError } from '../../core/kernel/errors.ts';
import type { TappedRequest } from '../../core/upstream/upstream.ts';
import { PROBE } from '../input-bounds.ts';
import { type InspectedPage, inspectPage, NO_LIST } from './inspected-page.ts';
import { readOnce, type SingleReadOptions } from './single-read.ts';

interface Variation {
  readonly settings?: Partial<ResourceConfig>;
  readonly credential?: AuthorizationSettings;
  /** @default 1 */
  readonly maxPages?: number;
}

/** Reads the first pages of the list again, with a variation. Resolves with no pages if the platform answered with no list. */
export type ReadAgain = (variation: Variation) => Promise<readonly InspectedPage[]>;

/** Thrown by an experiment that shows nothing. The message holds no text of the platform. */
export class NotTried extends Error {}

const TEMPORARY = [408, 429, 500, 502, 503, 504];

/** Lets a trial read pages on which a read would fail, since only the pages are compared. */
const PERMISSIVE = { invalidItems: 'drop', allowEmpty: true, duplicateIds: 'allow' } as const;

type VariedReadsOptions = Omit<SingleReadOptions, 'events'> & { readonly settings: ResourceConfig };

/** Trials are reads, with bounded `maxPages` and no retries. Rejects with {@link NotTried} if no response shows anything. */
export function createVariedReads({ settings, onRequest, ...read }: VariedReadsOptions): ReadAgain {
  let requests = 0;
  const count = (request: TappedRequest) => {
    requests += 1;
    onRequest(request);
  };

  return ({ settings: changed, credential, maxPages = 1 }) => {
    if (requests + maxPages > PROBE.requests) throw new NotTried(`it needs more than ${PROBE.requests} requests`);
    const merged = { ...settings, ...changed };
    // A full page without a next one is an error in a read; here the pages alone count.
    const ignoreSigns = [...(merged.pagination.ignoreSigns ?? []), 'fullPage' as const];
    const own = { ...merged, pagination: { ...merged.pagination, ignoreSigns }, maxPages, ...PERMISSIVE };
    const config = variedConfig(read.config, read.resource, own, credential);
    return readOnce({ ...read, config, onRequest: count }, ({ outcome, sent, answered }) => {
      const status = answered.at(-1)?.status ?? 0;
      const isPage = sent.some(({ bytes }) => bytes !== undefined);
      const isUnrelated = !isPage && (status === 200 || TEMPORARY.includes(status));
      if (outcome instanceof GatewayError && (status === 0 || isUnrelated)) {
        throw new NotTried(outcome.reason ?? outcome.title);
      }
      const seen = sent.flatMap(({ page, headers }) => (page && inspectPage(page, headers, own)) ?? []);
      return seen.length === 0 && !(outcome instanceof GatewayError) ? [NO_LIST] : seen;
    });
  };
}

function variedConfig(
  config: Config,
  resource: string,
  own: ResourceConfig,
  credential?: AuthorizationSettings,
): Config {
  const upstream = assertDefined(config.upstreams[own.upstream]);
  const retry = { ...upstream.retry, attempts: 0 };
  const varied = { ...upstream, ...(credential && { credential: credential as typeof upstream.credential }), retry };
  return {
    ...config,
    upstreams: { ...config.upstreams, [own.upstream]: varied },
    resources: { ...config.resources, [resource]: own },
  };
}
