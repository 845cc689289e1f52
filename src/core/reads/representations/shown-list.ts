import { mayHideText, showHidden } from '../../kernel/hidden-text.ts';
import { nextTurn } from '../../kernel/turns.ts';
import type { Item } from '../../resources/resource.ts';
import { createSnapshotWriter, type Snapshot } from '../snapshots/snapshot.ts';

/** A list whose hidden characters are shown. */
export interface ShownList {
  readonly snapshot: Snapshot;
  /** Number of hidden characters, by field. */
  readonly hidden: ReadonlyMap<string, number>;
}

/** Lists are searched in steps of about this size, each in a turn of its own. */
const STEP_BYTES = 262_144;

/** Shows the hidden characters of a list; `undefined` without any, which takes one look at its bytes. */
export async function showList(snapshot: Snapshot): Promise<ShownList | undefined> {
  if (!(await mayHide(snapshot))) return undefined;
  const writer = createSnapshotWriter(snapshot.loadedAt);
  const hidden = new Map<string, number>();

  function show(item: Item): Item {
    const entries = Object.entries(item).map(([field, text]) => {
      const shown = showHidden(text);
      if (shown.hidden > 0) hidden.set(field, (hidden.get(field) ?? 0) + shown.hidden);
      return [field, shown.text];
    });
    return Object.fromEntries(entries);
  }

  for await (const text of textsOf(snapshot)) writer.add((JSON.parse(`[${text}]`) as Item[]).map(show));
  return hidden.size === 0 ? undefined : { snapshot: await writer.finishInSteps(), hidden };
}

async function mayHide(snapshot: Snapshot): Promise<boolean> {
  for await (const text of textsOf(snapshot)) if (mayHideText(text)) return true;
  return false;
}

/** Returns the items as JSON with commas between them, step by step. */
async function* textsOf({ bytes, itemStarts, count }: Snapshot): AsyncGenerator<string> {
  const startOf = (index: number) => itemStarts[index] ?? bytes.length;
  let next = 0;
  while (next < count) {
    // Before the first step, too, because many may start in one turn.
    if (bytes.length > STEP_BYTES) await nextTurn();
    const begin = startOf(next);
    next += 1;
    while (next < count && startOf(next) - begin < STEP_BYTES) next += 1;
    yield bytes.toString('utf8', begin, startOf(next) - 1);
  }
}
