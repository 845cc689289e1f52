import { PaginationSettings } from '../../core/config/schema/resource/pagination.ts';
import type { ResourceConfig } from '../../core/config/schema/settings.ts';
import { guessItems, type ItemsGuess } from '../reply-guesses/items.ts';
import { type FirstPage, guessPaging, type PaginationInput } from '../reply-guesses/paging.ts';
import { pagingWords } from '../reply-guesses/paging-words.ts';
import { NotTried, type Try } from './experiments/trial.ts';
import type { Suggestion } from './report.ts';

/** What a first page looks like, against what settings say of it. */
export interface Looks {
  readonly body: unknown;
  readonly headers: FirstPage['headers'];
  /** Items where settings say; `undefined` where there is no list. */
  readonly count: number | undefined;
  /** Whether the read failed, and not by how items are mapped. */
  readonly isPagingInDoubt: boolean;
}

const MAX_GUESSES = 3;

/** Settings that seem to fit better, each with what speaks for it. One for paging has led to another page in a trial. */
export async function suggestSettings(
  resource: string,
  settings: ResourceConfig,
  looks: Looks,
  attempt: Try,
): Promise<Suggestion[]> {
  const at = `resources.${resource}`;
  const lists = guessItems(looks.body, [resource]);
  const elsewhere = lists.filter(({ count }) => (looks.count ?? 0) === 0 && count > 0);
  if (looks.count === undefined || elsewhere.length > 0) {
    const found = elsewhere.length > 0 ? elsewhere : lists;
    return found
      .slice(0, MAX_GUESSES)
      .map((guess) => ({ setting: `${at}.items`, value: yamlText(guess.items), why: itemsWhy(guess) }));
  }
  const { body, headers, count } = looks;
  const guesses = guessPaging({ body, headers, items: settings.items, count });
  const others = guesses.filter(
    ({ pagination }) => pagination.kind !== settings.pagination.kind && pagination.kind !== 'none',
  );
  if (!looks.isPagingInDoubt) return [];
  const { method, body: posted } = settings;
  const asked = others.flatMap(({ pagination, why }) => {
    const fitting = method === 'POST' ? placedInBody(pagination, posted) : pagination;
    return fitting === undefined ? [] : [{ pagination: fitting, why }];
  });
  const leading: typeof asked = [];
  for (const guess of asked.slice(0, MAX_GUESSES)) if (await leadsOn(guess.pagination, attempt)) leading.push(guess);
  return leading.map(({ pagination, why }) => ({ setting: `${at}.pagination`, value: yamlFlow(pagination), why }));
}

/** Whether a read by this paging comes to a second page that is not the first one again. */
async function leadsOn(guess: PaginationInput, attempt: Try): Promise<boolean> {
  const { total: _total, totalHeader: _header, ...serial } = guess;
  try {
    const pagination = PaginationSettings.parse(serial);
    const [one, two] = await attempt({ settings: { pagination }, maxPages: 2 });
    return one !== undefined && two !== undefined && two.count > 0 && two.ids !== one.ids;
  } catch (error) {
    if (error instanceof NotTried) return false;
    throw error;
  }
}

/** What the value is for which each parameter stands. */
const PARAMETERS = { sizeParam: 'size', tokenParam: 'token', offsetParam: 'offset', pageParam: 'page' } as const;
const NEEDED: Readonly<Record<string, keyof typeof PARAMETERS>> = {
  token: 'tokenParam',
  offset: 'offsetParam',
  page: 'pageParam',
};

/** The same way of paging where a list is posted for: by places in what is posted; `undefined` where that has none. */
function placedInBody(pagination: PaginationInput, posted: object | undefined): PaginationInput | undefined {
  const words = pagingWords(posted);
  const pointerTo = (key: keyof typeof PARAMETERS) => {
    const found = words.find(PARAMETERS[key], (value) => typeof value !== 'object' || value === null);
    return found?.path.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
  };
  const needed = NEEDED[pagination.kind];
  const pointer = needed && pointerTo(needed);
  if (needed !== undefined && pointer === undefined) return undefined;
  const placed = { ...pagination, sizeParam: pointerTo('sizeParam') ?? null };
  return needed === undefined ? placed : ({ ...placed, [needed]: pointer } as PaginationInput);
}

function itemsWhy({ count, keys }: ItemsGuess): string {
  if (count === 0) return 'an empty list is there';
  return `${count === 1 ? 'an item is' : `${count} items are`} there, with ${keys.slice(0, 8).join(', ')}`;
}

/** A flat block on one line of YAML. */
function yamlFlow(block: object): string {
  const entries = Object.entries(block).map(([key, value]) => `${key}: ${yamlText(value)}`);
  return `{ ${entries.join(', ')} }`;
}

/** Plain where YAML reads it back as it is, else in quotes; JSON is YAML. */
function yamlText(value: unknown): string {
  const isPlain =
    typeof value === 'string' && /^[A-Za-z_][\w.-]*$/.test(value) && !/^(?:null|true|false)$/i.test(value);
  return isPlain ? value : JSON.stringify(value);
}
