import type { LoadCaller, LoadedResource } from './callers.ts';

/** What the platform of a load has of one resource. A new edition of each list comes out all the time. */
interface Book {
  readonly items: number;
  readonly editionMs: number;
  /** The documented fields other than `id` and `name`, the same in every item. */
  readonly rest: Readonly<Record<string, string>>;
}

/** Items asked for in one page: projects and workflows take two pages, tools one. */
export const PAGE_SIZE = 10;

const DESCRIPTION = 'What this is for, in so many words that it takes up some room.';

/** Tools come in one page with an entity tag, so that the same edition is asked about again and again. */
const BOOKS: Readonly<Record<LoadedResource, Book>> = {
  projects: {
    items: 13,
    editionMs: 20,
    rest: { description: DESCRIPTION, createTime: '2026-01-02T03:04:05Z' },
  },
  workflows: {
    items: 12,
    editionMs: 20,
    rest: { description: DESCRIPTION, triggerType: 'MANUAL', status: 'ACTIVE' },
  },
  tools: { items: 6, editionMs: 2500, rest: { version: '1.2.3', category: 'scanner', description: DESCRIPTION } },
};

export function lengthFor({ index }: LoadCaller, resource: LoadedResource): number {
  return BOOKS[resource].items + (index % 5);
}

/** The edition of a list that is out at a time, by the clock of this process (`performance.now()`). */
export function editionAt(resource: LoadedResource, ms: number): number {
  return Math.floor(ms / BOOKS[resource].editionMs);
}

/** The last moment at which the platform served an edition. */
export function endOf(resource: LoadedResource, edition: number): number {
  return (edition + 1) * BOOKS[resource].editionMs;
}

/** One item of a list, as the platform sends it and Portico has to. */
function itemFor(caller: LoadCaller, resource: LoadedResource, index: number, edition: number): object {
  return { id: `${caller.mark}-${resource}-${index}`, name: `Edition ${edition}`, ...BOOKS[resource].rest };
}

export function pageFor(caller: LoadCaller, resource: LoadedResource, start: number, edition: number): object[] {
  const length = Math.max(Math.min(PAGE_SIZE, lengthFor(caller, resource) - start), 0);
  return Array.from({ length }, (_, offset) => itemFor(caller, resource, start + offset, edition));
}

/** The oldest edition in a list that a caller was given. Throws where it is not that caller's own and whole list. */
export function oldestEdition(caller: LoadCaller, resource: LoadedResource, text: string): number {
  const items: unknown = JSON.parse(text);
  if (!Array.isArray(items) || items.length !== lengthFor(caller, resource)) throw new Error('the list is not whole');
  const editions = items.map((item) => Number(/^Edition (\d+)$/.exec(String(item?.name))?.[1]));
  const wanted = editions.map((edition, index) => itemFor(caller, resource, index, edition));
  // The same text, in the order in which the fields are documented, or it is wrong.
  if (JSON.stringify(wanted) !== text) throw new Error("the list is not this caller's");
  return Math.min(...editions);
}
