import { randomInt } from 'node:crypto';
import { credentialIn } from '../../core/credentials/authorize.ts';
import { credentialForm } from '../../core/kernel/credential-kinds.ts';
import type { Finding } from './probe-report.ts';
import type { ListSubject } from './read-doubts.ts';
import { NotTried } from './varied-reads.ts';

/** The made-up token goes to the platform only, without a user name, whose account could be locked. */
export async function publicList({ settings, credential, request, first, readAgain }: ListSubject): Promise<Finding[]> {
  const form = credentialForm(credential);
  if (form === undefined) return [];
  const token = credentialIn(request.headers, form);
  const secret = madeUp(token);
  if (secret === token) throw new NotTried('no other token of this kind can be made up');
  const { header: name, format } = form;
  const [look] = await readAgain({ credential: { kind: 'service', secret, name, format } });
  const setting = `upstreams.${settings.upstream}.credential`;
  if (look === undefined) return [];
  if (look.count === 0 || look.ids !== first.ids) {
    const list = look.count === 0 ? 'an empty list' : `another list (${look.count} items)`;
    const guest = `a made-up token gets status 200 with ${list}: so does a caller whose token has expired, and no error`;
    return [{ finding: 'empty_for_all', setting, text: guest }];
  }
  const text = `a made-up token returns the same first page (${first.count} items): the list is public, or the platform ignores the header ${name}; set ${setting} to the header that the platform reads, or all callers get the same list`;
  return [{ finding: 'public_list', setting, text }];
}

/** Makes up a token of the same length. */
export function madeUp(token: string): string {
  return token.replace(/[a-zA-Z0-9]/g, () => randomInt(36).toString(36));
}

const NEXT = { token: 'tokenParam', offset: 'offsetParam', page: 'pageParam', link: 'next', none: '' } as const;

/** Reads in pages of half the size, so that the next page and its sign are tried, too. */
export async function smallerPages({ keyOf, settings, first, received, readAgain }: ListSubject): Promise<Finding[]> {
  const { pagination } = settings;
  const sizeKey = 'endParam' in pagination && pagination.endParam !== undefined ? 'endParam' : 'sizeParam';
  if (pagination.kind === 'none' || first.count < 2) return [];
  if (sizeKey === 'sizeParam' && pagination.sizeParam === null) return [];
  const isWhole = first.count === received;
  const size = Math.ceil(first.count / 2);
  const smaller = { pagination: { ...pagination, size } as typeof pagination };
  const [one, two] = await readAgain({ settings: smaller, maxPages: isWhole ? 3 : 1 });
  if (one === undefined) return [];
  const at = keyOf('pagination');
  if (one.count >= first.count) {
    const why = `${size} items were requested, and ${one.count} were returned; set the one that the platform reads, or null`;
    return one.ids === first.ids ? ignored(`${at}.${sizeKey}`, why) : [];
  }
  if (!isWhole) return [];
  const next = `${at}.${NEXT[pagination.kind]}`;
  if (one.ids === two?.ids) return ignored(next, `the second page equals the first (${first.count} items in all)`);
  if (two !== undefined && two.count > 0) return [];
  const text = `${at}: in pages of ${size} items the list ends after ${one.count} of ${first.count} items; the total or next-page sign that ${at} reads belongs to one page, or ${next} counts differently`;
  return [{ finding: 'pages_incomplete', setting: at, text }];
}

function ignored(setting: string, why: string, mayBeRight = false): Finding[] {
  const text = `${setting}: the platform seems to ignore it: ${why}`;
  return [{ finding: 'parameter_ignored', setting, text, ...(mayBeRight && { mayBeRight }) }];
}

/** Reads without each entry of `query`, and with a value that makes no sense; flags are also inverted. */
export async function queryEntries({ keyOf, settings, first, isWritten, readAgain }: ListSubject): Promise<Finding[]> {
  // With fewer items, most filters and orders change nothing. Entries of the default contract are another finding.
  if (first.count < 2 || (!isWritten('query') && isWritten('path'))) return [];
  const paging = Object.entries(settings.pagination).flatMap(([key, value]) => (key.endsWith('Param') ? [value] : []));
  const found: Finding[] = [];
  for (const [name, value = ''] of Object.entries(settings.query)) {
    if (paging.includes(name)) continue;
    const { [name]: _removed, ...without } = settings.query;
    const isFlag = value === 'true' || value === 'false';
    const values = ['portico-probe', ...(isFlag ? [`${value === 'false'}`] : [])];
    let isSame = true;
    for (const query of [without, ...values.map((each) => ({ ...settings.query, [name]: each }))]) {
      isSame &&= (await readAgain({ settings: { query } }))[0]?.content === first.content;
    }
    if (!isSame) continue;
    const why = `without it, and with a meaningless value, the first page is the same (${first.count} items), unless all items match it`;
    found.push(...ignored(keyOf(`query.${name}`), why, canMatchAll(name, `${value}`)));
  }
  return found;
}

/** Whether all items can match a value: a flag, `all`, or an order in which they are anyway. Any other that makes no sense matches none. */
function canMatchAll(name: string, value: string): boolean {
  return /^(?:true|false|all|asc|desc)$/i.test(value) || /sort|order/i.test(name);
}
