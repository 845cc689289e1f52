import { mayHideText, showHidden } from '../../kernel/hidden-text.ts';
import { nextTurn } from '../../kernel/turns.ts';
import type { Item } from '../../resources/resource.ts';
import { ARRAY_BYTES, arraysOf, createSnapshotWriter, type Snapshot } from '../snapshots/snapshot.ts';

/** A list whose hidden characters are shown. */
export interface ShownList {
  readonly snapshot: Snapshot;
  /** Number of hidden characters, by field. */
  readonly hidden: ReadonlyMap<string, number>;
}

/** Shows the hidden characters of a list; `undefined` without any, which takes one look at its bytes. */
export async function showList(snapshot: Snapshot): Promise<ShownList | undefined> {
  if (!(await mayHide(snapshot))) return undefined;
  const writer = createSnapshotWriter(snapshot.loadedAt);
  const hidden = new Map<string, number>();

  function show(item: Item): Item {
    const shown: Record<string, string> = {};
    for (const [field, value] of Object.entries(item)) {
      const { text, hidden: count } = showHidden(value);
      if (count > 0) hidden.set(field, (hidden.get(field) ?? 0) + count);
      shown[field] = text;
    }
    return shown;
  }

  for (const array of arraysOf(snapshot)) {
    await nextTurn();
    writer.add((JSON.parse(array) as Item[]).map(show));
  }
  return hidden.size === 0 ? undefined : { snapshot: await writer.finishInSteps(), hidden };
}

async function mayHide(snapshot: Snapshot): Promise<boolean> {
  const isLong = snapshot.bytes.length > ARRAY_BYTES;
  for (const array of arraysOf(snapshot)) {
    if (isLong) await nextTurn();
    if (mayHideText(array)) return true;
  }
  return false;
}
