import { randomInt } from 'node:crypto';
import type { ResourceConfig } from '../../core/config/schema/settings.ts';
import { type CredentialSettings, credentialIn } from '../../core/credentials/authorize.ts';
import { credentialForm } from '../../core/kernel/credential-kinds.ts';
import type { Resource } from '../../core/resources/resource.ts';
import type { TappedRequest } from '../../core/upstream/upstream.ts';
import type { Finding, Untried } from './probe-report.ts';
import { type InspectedPage, NotTried, type ReadAgain } from './varied-reads.ts';

/** A read that succeeded, as experiments see it. */
interface Subject {
  readonly resource: Resource;
  readonly settings: ResourceConfig;
  readonly credential: CredentialSettings;
  readonly isWritten: (key: string) => boolean;
  readonly request: TappedRequest;
  readonly first: InspectedPage;
  readonly received: number;
  readonly items: number;
  /** The list as it is served. */
  readonly served: readonly Readonly<Record<string, string>>[];
  /** The largest total that the first page states; 0 without one. */
  readonly total: number;
  /** How many items took the default of a field. */
  readonly defaulted: ReadonlyMap<string, number>;
  readonly readAgain: ReadAgain;
}

/** Finds doubts about a read. Rejects with {@link NotTried} if it shows nothing. */
type Experiment = (subject: Subject) => readonly Finding[] | Promise<readonly Finding[]>;

/** Read pages again and compare them, which shows nothing where pages of several lists come in any order. */
const OF_ONE_LIST = ['made-up token', 'smaller pages', 'query'];

/** By name, in the order in which they run. The first five need no request. */
const EXPERIMENTS: Readonly<Record<string, Experiment>> = {
  'empty list': emptyList,
  'default query': defaultQuery,
  defaults,
  values: unmappedValues,
  total: checksOff,
  'made-up token': publicList,
  'smaller pages': smallerPages,
  query: queryEntries,
};

export async function runExperiments(
  subject: Subject,
): Promise<{ readonly findings: readonly Finding[]; readonly notTried: readonly Untried[] }> {
  const findings: Finding[] = [];
  const notTried: Untried[] = [];
  const isJoined = subject.settings.each !== undefined || subject.settings.lists !== undefined;
  for (const [experiment, run] of Object.entries(EXPERIMENTS)) {
    if (isJoined && OF_ONE_LIST.includes(experiment)) continue;
    try {
      findings.push(...(await run(subject)));
    } catch (error) {
      if (!(error instanceof NotTried)) throw error;
      notTried.push({ experiment, why: error.message });
    }
  }
  return { findings, notTried };
}

function emptyList({ resource, settings, received }: Subject): Finding[] {
  if (received > 0 || settings.allowEmpty) return [];
  const setting = `resources.${resource.name}.items`;
  const text = `the list is empty, so ${setting} and the fields could not be checked`;
  return [{ finding: 'list_empty', setting, text }];
}

function defaultQuery({ resource, settings, isWritten }: Subject): Finding[] {
  const names = Object.keys(resource.query);
  if (names.length === 0 || isWritten('query') || !isWritten('path')) return [];
  const sent = names.map((name) => `${name}=${settings.query[name]}`).join('&');
  const text = `path is set but query is not, so ${sent} of the default contract is sent: set query: {} or the parameters of this platform`;
  return [{ finding: 'default_query', setting: `resources.${resource.name}.query`, text }];
}

function defaults({ resource, settings, first, items, defaulted }: Subject): Finding[] {
  const page: readonly unknown[] = JSON.parse(first.content);
  return [...defaulted].flatMap(([field, times]) => {
    const { default: text = '', from = '' } = settings.fields[field] ?? {};
    if (items === 0 || times !== items || text === '' || page.some((item) => hasMember(item, from))) return [];
    const why = `every item has the default of the field ${field} (${items} of ${items}), because no item has the member in its expression`;
    return [{ finding: 'default_hides_field', setting: `resources.${resource.name}.fields.${field}`, text: why }];
  });
}

const MAX_VALUES = 10;

/** A text that `values` does not name is served as it is. */
function unmappedValues({ resource, settings, served }: Subject): Finding[] {
  return Object.entries(settings.fields).flatMap(([field, { values, default: text }]) => {
    const known = new Set([...Object.values(values), text]);
    if (Object.keys(values).length === 0) return [];
    const others = served.map((item) => item[field] ?? '').filter((value) => !known.has(value));
    if (others.length === 0) return [];
    const setting = `resources.${resource.name}.fields.${field}.values`;
    const seen = [...new Set(others)].slice(0, MAX_VALUES).map((value) => JSON.stringify(value));
    const found = `${others.length} of ${served.length} items have texts that ${setting} does not name: ${seen.join(', ')}`;
    return [{ finding: 'value_unmapped', setting, text: `${found}; they are served as they are` }];
  });
}

/** A total that contradicts the list, while settings turn its check off. */
function checksOff({ resource, settings, received, total }: Subject): Finding[] {
  if (!settings.pagination.ignoreSigns?.includes('total') || total <= received) return [];
  const setting = `resources.${resource.name}.pagination.ignoreSigns`;
  const text = `the reply states a total of ${total}, and ${received} items were read; ${setting} turns the check of this off`;
  return [{ finding: 'check_off', setting, text }];
}

/** Whether an item has the member at a plain path, if only as null: then a default is intended. */
function hasMember(item: unknown, path: string): boolean {
  const [name = '', ...rest] = path.split('.');
  const members = Object(item) as Record<string, unknown>;
  return Object.hasOwn(members, name) && (rest.length === 0 || hasMember(members[name], rest.join('.')));
}

/** The made-up token goes to the platform only, without a user name, whose account could be locked. */
async function publicList({ settings, credential, request, first, readAgain }: Subject): Promise<Finding[]> {
  const form = credentialForm(credential);
  if (form === undefined) return [];
  const token = credentialIn(request.headers, form);
  const secret = madeUp(token);
  if (secret === token) throw new NotTried('no other token of this kind can be made up');
  const { header: name, format } = form;
  const [look] = await readAgain({ credential: { kind: 'service', secret, name, format } });
  const setting = `upstreams.${settings.upstream}.credential`;
  if (look?.count === 0) {
    const guest =
      'a made-up token gets status 200 with an empty list: a caller whose token has expired sees no items and no error';
    return [{ finding: 'empty_for_all', setting, text: guest }];
  }
  if (look?.ids !== first.ids) return [];
  const [what, otherwise] =
    credential.kind === 'service'
      ? ['secret', 'to kind: none if the list is public']
      : ['token', 'all callers get the same list'];
  const text = `a made-up ${what} returns the same first page (${first.count} items): the list is public, or the platform ignores the header ${name}; set ${setting} to the header that the platform reads, or ${otherwise}`;
  return [{ finding: 'public_list', setting, text }];
}

const CLASSES = ['abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', '0123456789'];

/** Makes up a token of the same length: random letters for letters, random digits for digits. */
export function madeUp(token: string): string {
  return token.replace(/[a-zA-Z0-9]/g, (character) => {
    const alphabet = CLASSES.find((each) => each.includes(character)) ?? character;
    return alphabet.charAt(randomInt(alphabet.length));
  });
}

const NEXT = { token: 'tokenParam', offset: 'offsetParam', page: 'pageParam', link: 'next', none: '' } as const;

/** Reads in pages of half the size, so that the next page and its sign are tried, too. */
async function smallerPages({ resource, settings, first, received, readAgain }: Subject): Promise<Finding[]> {
  const { pagination } = settings;
  const sizeKey = 'endParam' in pagination && pagination.endParam !== undefined ? 'endParam' : 'sizeParam';
  if (pagination.kind === 'none' || first.count < 2) return [];
  if (sizeKey === 'sizeParam' && pagination.sizeParam === null) return [];
  const isWhole = first.count === received;
  const size = Math.ceil(first.count / 2);
  const smaller = { pagination: { ...pagination, size } as typeof pagination };
  const [one, two] = await readAgain({ settings: smaller, maxPages: isWhole ? 3 : 1 });
  if (one === undefined) return [];
  const at = `resources.${resource.name}.pagination`;
  const next = `${at}.${NEXT[pagination.kind]}`;
  if (one.count >= first.count) {
    const setting = `${at}.${sizeKey}`;
    const text = `${setting}: ${size} items were requested, and ${one.count} were returned: the platform ignores the parameter; set the one that it reads, or sizeParam: null`;
    return one.ids === first.ids ? [{ finding: 'parameter_ignored', setting, text }] : [];
  }
  if (!isWhole) return [];
  if (one.ids === two?.ids) {
    const text = `${next}: the second page equals the first (${first.count} items in all): the platform ignores the parameter`;
    return [{ finding: 'parameter_ignored', setting: next, text }];
  }
  if (two !== undefined && two.count > 0) return [];
  const text = `${at}: in pages of ${size} items the list ends after ${one.count} of ${first.count} items; the total or next-page sign that ${at} reads belongs to one page, or ${next} counts differently`;
  return [{ finding: 'pages_incomplete', setting: at, text }];
}

/** Reads without each entry of `query`, and with a value that makes no sense; flags are also inverted. */
async function queryEntries({ resource, settings, first, isWritten, readAgain }: Subject): Promise<Finding[]> {
  // With fewer items, most filters and orders change nothing. Entries of the default contract are another finding.
  if (first.count < 2 || (!isWritten('query') && isWritten('path'))) return [];
  const paging = Object.entries(settings.pagination).flatMap(([key, value]) => (key.endsWith('Param') ? [value] : []));
  const found: Finding[] = [];
  for (const [name, value = ''] of Object.entries(settings.query)) {
    if (paging.includes(name)) continue;
    const { [name]: _removed, ...without } = settings.query;
    const isFlag = value === 'true' || value === 'false';
    const values = ['portico-probe', ...(isFlag ? [`${value === 'false'}`] : [])];
    const queries = [without, ...values.map((each) => ({ ...settings.query, [name]: each }))];
    const isSame = async (query: typeof without) =>
      (await readAgain({ settings: { query } }))[0]?.content === first.content;
    if (!(await allInTurn(queries, isSame))) continue;
    const setting = `resources.${resource.name}.query.${name}`;
    const text = `${setting} seems to have no effect: without it, and with a meaningless value, the first page is the same (${first.count} items); the platform ignores it, or all items match it`;
    const mayBeRight = canMatchAll(name, `${value}`, JSON.parse(first.content));
    found.push({ finding: 'parameter_ignored', setting, text, ...(mayBeRight && { mayBeRight }) });
  }
  return found;
}

async function allInTurn<T>(values: readonly T[], holds: (value: T) => Promise<boolean>): Promise<boolean> {
  for (const value of values) if (!(await holds(value))) return false;
  return true;
}

/**
 * Whether a platform that reads a parameter can send the same without it: a flag that all items match, unless a member of that
 * name differs; `all`; and an order in which the items are anyway. Any other value that makes no sense matches none.
 */
function canMatchAll(name: string, value: string, items: readonly unknown[]): boolean {
  const members = items.map((item) => Object(item) as Record<string, unknown>);
  if (value === 'true' || value === 'false') {
    return members.every(({ [name]: flag }) => typeof flag !== 'boolean' || `${flag}` === value);
  }
  if (/^(?:all|asc|desc)$/i.test(value) || /sort|order/i.test(name)) return true;
  const order = value.replace(/^[-+]/, '');
  return order !== '' && Object.keys(members[0] ?? {}).some((member) => member.startsWith(order));
}
