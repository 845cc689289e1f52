import type { Events } from '../../kernel/events.ts';
import { showHidden } from '../../kernel/hidden-text.ts';
import type { Offered } from '../../reads/catalogue/catalogue.ts';
import type { Representations } from '../../reads/representations/representations.ts';
import type { ShownList } from '../../reads/representations/shown-list.ts';
import type { Load } from '../../reads/snapshots/load.ts';
import type { ToolArguments } from './arguments.ts';

export interface ShowOptions {
  /** `keep`: leaves lists as they are. */
  readonly hiddenText: 'escape' | 'keep';
  readonly representations: Pick<Representations, 'shown'>;
  readonly events: Events;
}

/** A list as a model sees it, and the arguments for it. */
export interface Shown {
  readonly load: Load;
  readonly args: ToolArguments;
  /** Members of the result's `_meta` as JSON, each preceded by a comma. */
  readonly meta: string;
}

/** Shows the hidden characters of a list, unless settings keep them. A warning is emitted for each field that has some. */
export function createShow({ hiddenText, representations, events }: ShowOptions) {
  return async (offered: Offered, load: Load, args: ToolArguments): Promise<Shown> => {
    const emit = ({ hidden }: ShownList) => {
      const { resource, upstream } = offered;
      for (const field of hidden.keys()) {
        events.mappingWarning?.({ resource: resource.name, upstream, finding: 'hidden_text', field });
      }
    };
    const shown = hiddenText === 'escape' ? await representations.shown(load, emit) : undefined;
    if (shown === undefined) return { load, args, meta: '' };
    const { snapshot, hidden } = shown;
    const meta = `,"portico/hiddenText":${JSON.stringify(Object.fromEntries(hidden))}`;
    return { load: { ...load, snapshot }, args: { ...args, filter: shownFilter(args.filter) }, meta };
  };
}

/** Finds a text as it is, and as it is shown. */
function shownFilter({ query, values }: ToolArguments['filter']): ToolArguments['filter'] {
  const shown = Object.entries(values).map(([field, text]) => [field, showHidden(text).text]);
  return { query: query && showHidden(query).text, values: Object.fromEntries(shown) };
}
