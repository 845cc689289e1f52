import type { Resource } from '../../core/resources/resource.ts';
import type { Description, Listing } from '../describe/listing.ts';
import { proposePaging } from '../guess/guess-paging.ts';
import { NEAR, rankListings } from '../guess/rank-listings.ts';

export type Proposal = ReturnType<typeof propose>;
export type ResourceProposal = Proposal['resources'][number];

const MAX_OTHERS = 5;

/** Proposes settings from a description. `chosen`: the list of each resource by its name, instead of the best guess; null for none. */
export function propose(
  { listings, credentialFor }: Description,
  resources: readonly Resource[],
  chosen: ReadonlyMap<string, Listing | null> = new Map(),
) {
  const taken = new Set<Listing>();
  const proposals = resources.map((resource) => {
    const ranked = rankListings(resource, listings).filter(({ listing }) => !taken.has(listing));
    const choice = chosen.get(resource.name);
    const best = choice === undefined ? ranked[0] : ranked.find(({ listing }) => listing === choice);
    if (best !== undefined) taken.add(best.listing);
    const others = ranked.filter((each) => each !== best).slice(0, MAX_OTHERS);
    return { resource, found: best && { ...best, paging: proposePaging(best.listing) }, others };
  });
  const used = proposals.flatMap(({ found }) => found?.listing.security ?? []);
  return { credential: credentialFor(used), resources: proposals };
}

/** Whether another list is almost as likely as the one that was found. */
export function hasRival({ found, others }: ResourceProposal): boolean {
  return found !== undefined && others.some(({ score }) => score > found.score - NEAR);
}
