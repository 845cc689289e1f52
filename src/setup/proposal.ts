import type { Resource } from '../core/resources/resource.ts';
import type { Description } from './description/document.ts';
import type { Listing, PagingProposal } from './description/listing.ts';
import { type CredentialProposal, proposeCredential } from './guesses/credential.ts';
import { proposePaging } from './guesses/paging.ts';
import { NEAR, type Ranked, rankListings } from './guesses/rank.ts';

/** What the settings of one resource could be. */
export interface ResourceProposal {
  readonly resource: Resource;
  /** Undefined where no list seems to be it. */
  readonly found: Ranked | undefined;
  readonly paging: PagingProposal | undefined;
  /** Others that could be meant as well. */
  readonly others: readonly Ranked[];
}

/** What a settings file could be. */
export interface Proposal {
  readonly title: string;
  /** Where the API lives: as found, or told. May be relative or empty. */
  readonly server: string;
  readonly credential: CredentialProposal;
  readonly resources: readonly ResourceProposal[];
  /** References out of the document, which were not followed. */
  readonly external: number;
}

/** Which listing is which resource: by name of the resource; null for none of them. */
export type Choice = ReadonlyMap<string, Listing | null>;

const MAX_OTHERS = 5;

/** Proposes settings for these resources from a description; what `chosen` says is not guessed. */
export function propose(
  description: Description,
  resources: readonly Resource[],
  chosen: Choice = new Map(),
): Proposal {
  const { title, server, listings, schemes, resolve, external } = description;
  const taken = new Set<Listing>();
  const proposals = resources.map((resource) => {
    const ranked = rankListings(resource, listings).filter(({ listing }) => !taken.has(listing));
    const choice = chosen.get(resource.name);
    const found = choice === undefined ? ranked[0] : ranked.find(({ listing }) => listing === choice);
    if (found !== undefined) taken.add(found.listing);
    const others = ranked.filter((each) => each !== found).slice(0, MAX_OTHERS);
    return { resource, found, paging: found && proposePaging(found.listing, listings), others };
  });
  const used = proposals.flatMap(({ found }) => found?.listing.security ?? []);
  const credential = description.credential ?? proposeCredential(schemes, used, resolve);
  return { title, server, credential, resources: proposals, external };
}

/** Others that are as likely as the one that was found. */
export function isInDoubt({ found, others }: ResourceProposal): boolean {
  return found !== undefined && others.some(({ score }) => score > found.score - NEAR);
}
