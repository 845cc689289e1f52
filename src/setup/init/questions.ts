import type { Listing } from '../description/listing.ts';
import { isInDoubt, type Proposal, type ResourceProposal } from '../proposal.ts';
import { oneLine } from '../settings/yaml-text.ts';

/** Who is asked. */
export interface Person {
  print(text: string): void;
  /** What was typed; empty where only the enter key was. Undefined at the end of the input. */
  answer(question: string): Promise<string | undefined>;
}

/** Asks a person which list is which, where more than one could be. Nothing typed takes the best guess. */
export async function settleDoubts(proposal: Proposal, person: Person): Promise<Map<string, Listing | null>> {
  const chosen = new Map<string, Listing | null>();
  for (const each of proposal.resources) {
    if (!isInDoubt(each)) continue;
    const choice = await askFor(each, person);
    if (choice !== undefined) chosen.set(each.resource.name, choice);
  }
  return chosen;
}

async function askFor(
  { resource, found, others }: ResourceProposal,
  person: Person,
): Promise<Listing | null | undefined> {
  const listings = [found, ...others].flatMap((each) => (each === undefined ? [] : [each.listing]));
  const lines = listings.map(({ path, title }, index) =>
    `  ${index + 1}  ${oneLine(path)}  ${oneLine(title)}`.trimEnd(),
  );
  person.print(`Which list is ${resource.name}?\n${lines.join('\n')}\n  0  none of them\n`);
  for (;;) {
    const typed = (await person.answer('[1] '))?.trim();
    if (typed === undefined) return undefined;
    const index = typed === '' ? 1 : /^\d$/.test(typed) ? Number(typed) : -1;
    if (index === 0) return null;
    const listing = listings[index - 1];
    if (listing !== undefined) return listing;
    person.print(`Type a number from 0 to ${listings.length}.\n`);
  }
}
