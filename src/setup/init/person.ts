import { createInterface } from 'node:readline/promises';
import type { Listing } from '../describe/listing.ts';
import { hasRival, type Proposal, type ResourceProposal } from './proposal.ts';
import { oneLine } from './yaml-text.ts';

export interface Person {
  print(text: string): void;
  /** Resolves with the line that was typed, or undefined at the end of the input. */
  answer(question: string): Promise<string | undefined>;
}

/** Opens a terminal for questions to the person there. It sends Ctrl-C as a key, for which `onInterrupt` is called. */
export function openTerminal(
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
  onInterrupt: () => void,
): Person & { close(): void } {
  const lines = createInterface({ input, output });
  const closed = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
  lines.once('SIGINT', onInterrupt);
  return {
    print: (text) => {
      output.write(text);
    },
    // A question to a closed terminal never settles, and throws from Node 24 on.
    answer: (question) => Promise.race([lines.question(question), closed]).catch(() => undefined),
    close: () => lines.close(),
  };
}

/** Asks which list is which, if more than one fits. The enter key takes the best guess. */
export async function chooseListings({ resources }: Proposal, person: Person): Promise<Map<string, Listing | null>> {
  const chosen = new Map<string, Listing | null>();
  for (const each of resources) {
    const choice = hasRival(each) ? await choose(each, person) : undefined;
    if (choice !== undefined) chosen.set(each.resource.name, choice);
  }
  return chosen;
}

async function choose({ resource, found, others }: ResourceProposal, person: Person) {
  const listings = [found, ...others].flatMap((each) => each?.listing ?? []);
  const lines = listings.map(({ path, title }, index) =>
    `  ${index + 1}  ${oneLine(path)}  ${oneLine(title)}`.trimEnd(),
  );
  person.print(`Which list is ${resource.name}?\n${lines.join('\n')}\n  0  none of them\n`);
  for (;;) {
    const typed = (await person.answer('[1] '))?.trim();
    if (typed === undefined) return undefined;
    if (typed === '0') return null;
    const listing = listings[typed === '' ? 0 : /^\d$/.test(typed) ? Number(typed) - 1 : -1];
    if (listing !== undefined) return listing;
    person.print(`Type a number from 0 to ${listings.length}.\n`);
  }
}
