import { membersOf, parseJson, plainName } from '../../kernel/json-shape.ts';
import type { ReplyHeaders } from '../upstream.ts';
import { linkTo } from './link-header.ts';
import { type Meaning, meaningOfHeader, meaningOfMember, type Sign } from './words.ts';

/** One statement of a reply about the rest of its list. */
export interface Statement {
  readonly sign: Exclude<Sign, 'fullPage'> | 'token';
  readonly name: string;
  /** Place as an expression; absent for a header. */
  readonly path?: string;
  /** The number of all items or pages, or whether there are more. */
  readonly stated: number | boolean;
  /** See {@link Meaning}. */
  readonly isCount?: boolean | undefined;
  readonly isFiltered?: boolean | undefined;
  readonly isSize?: boolean | undefined;
  /** The token of the sign `token`, which confirmation tries. */
  readonly token?: string;
}

/** An object that encloses the list. `fields`: its path in the body. */
export interface Enclosing {
  readonly fields: readonly (string | number)[];
  readonly value: object;
}

const MAX_DEPTH = 3;
/** Characters of a token in place of a number. */
const MIN_TOKEN = 8;
/** Characters of a token that is tried under several names in one URL. */
const MAX_TRIED = 256;
const MAX_LINKS = 50;
const IDENTIFIER = /^[A-Za-z_]\w*$/;
/** Value of RFC 9110, section 14.4, or as PostgREST has it without a unit. */
const RANGE = /^\s*(?:(?!bytes)[\w-]+[\s=]\s*)?(?:(\d{1,40})-\d+|\*)\/(\d{1,40})\s*$/i;
const NUMBER = /^\s*\+?(\d{1,40})(?:\.0*)?\s*$/;

/** Reads no item but the last, for a flag in it, so that it takes the same few microseconds for any list. */
export function statementsOf(enclosing: readonly Enclosing[], headers: ReplyHeaders, lastItem?: unknown): Statement[] {
  const statements: Statement[] = [];
  for (const { fields, value } of enclosing) readMembers(value, fields.reduce<string>(below, ''), 0, statements);
  readFlag(lastItem, statements);
  return [...statements, ...headerStatements(headers)];
}

/** Collects the statements of headers alone. */
export function headerStatements(headers: ReplyHeaders): Statement[] {
  const statements: Statement[] = [];
  for (const header in headers) {
    const { meanings, isMeta } = meaningOfHeader(header);
    for (const meaning of meanings) {
      // Some proxies add a header that is already present.
      const texts = [headers[header]].flat().join().split(',');
      for (const text of new Set(texts.map((each) => each.trim())))
        readMember(meaning, header, text, undefined, statements);
    }
    if (isMeta) readJsonHeader(header, headers[header], statements);
  }
  readLink(headers['link'], statements);
  const range = RANGE.exec(String(headers['content-range'] ?? ''));
  if (range !== null) statements.push({ sign: 'total', name: 'content-range', stated: Number(range[2]) });
  // Some platforms count items from 1.
  if (Number(range?.[1]) > 1) statements.push({ sign: 'previous', name: 'content-range', stated: true });
  return statements;
}

function readMembers(scope: object, path: string, depth: number, statements: Statement[]): void {
  for (const [member, value] of membersOf(scope)) {
    const { meanings, isMeta } = meaningOfMember(member);
    if (meanings.length === 0 && !isMeta) continue;
    const place = below(path, member);
    const isOpen = meanings.some(({ isAfter }) => isAfter) && leadsBack(scope);
    for (const meaning of isOpen ? TOKEN : meanings) readMember(meaning, member, value, place, statements);
    if (!isMeta || depth === MAX_DEPTH || typeof value !== 'object' || value === null) continue;
    if (Array.isArray(value)) readLinks(value, place, statements);
    else readMembers(value, place, depth + 1, statements);
  }
  if ('size' in scope && hasAny(scope, STARTS) && hasAny(scope, MAXIMA)) {
    readMember({ sign: 'total', isSize: true }, 'size', scope.size, below(path, 'size'), statements);
  }
}

const TOKEN: readonly Meaning[] = [{ sign: 'token' }];

function leadsBack(scope: object): boolean {
  return membersOf(scope).some(([member, value]) => /^(?:start)?before/i.test(member) && leads(value) === true);
}

/** Beside a start and a maximum, a size is that of the list, or of the page. */
const STARTS = ['start', 'startat', 'startindex', 'offset', 'skip', 'from'];
const MAXIMA = ['max', 'limit', 'maxresult', 'maxresults', 'pagesize', 'top', 'count'];

function hasAny(scope: object, names: readonly string[]): boolean {
  return membersOf(scope).some(([member]) => names.includes(plainName(member)));
}

function readMember(
  { sign, isText, isAfter: _, ...kind }: Meaning,
  name: string,
  value: unknown,
  path: string | undefined,
  statements: Statement[],
): void {
  const where = { name, ...(path !== undefined && { path }), ...kind };
  if (isText && !(typeof value === 'string' && value.length >= MIN_TOKEN && numberOf(value) === undefined)) return;
  if (sign === 'token') {
    const token = typeof value === 'number' ? String(value) : value;
    if (typeof token === 'string' && token.length <= MAX_TRIED && leads(token))
      statements.push({ ...where, sign, stated: true, token });
  } else if (sign === 'total' && typeof value === 'object') {
    readTotalObject(where, value, statements);
  } else if (sign === 'end') {
    // A number of this name is that of the last page.
    const ended = typeof value === 'number' ? undefined : flagOf(value);
    if (ended !== undefined) statements.push({ ...where, sign: 'more', stated: !ended });
  } else {
    const stated = statedBy(sign, value);
    if (stated !== undefined) statements.push({ ...where, sign, stated });
  }
}

/** A member of the last item that begins with `_more_`, or is called so, says that others follow. */
function readFlag(item: unknown, statements: Statement[]): void {
  if (typeof item !== 'object' || item === null) return;
  for (const [member, value] of membersOf(item)) {
    if (!/^_+(?:has_?)?more(?:_|$)/i.test(member)) continue;
    if (leads(value)) statements.push({ sign: 'more', name: member, stated: true });
  }
}

/** The total of Elasticsearch. With the relation `gte` it is a lower bound. */
function readTotalObject(
  where: Omit<Statement, 'sign' | 'stated'>,
  value: object | null,
  statements: Statement[],
): void {
  const { value: number, relation } = Object(value);
  const total = numberOf(number);
  if (total === undefined) return;
  const path = below(where.path ?? '', 'value');
  statements.push({ ...where, sign: 'total', path, stated: relation === 'gte' ? total + 1 : total });
}

/** Objects with `rel` and `href`. */
function readLinks(links: readonly unknown[], path: string, statements: Statement[]): void {
  for (const link of links.slice(0, MAX_LINKS)) {
    const rel = Object(link).rel;
    const sign = rel === 'next' ? 'next' : rel === 'prev' || rel === 'previous' ? 'previous' : undefined;
    if (sign === undefined) continue;
    statements.push({ sign, name: `links: ${rel}`, path: `${path}[?rel=='${rel}'].href | [0]`, stated: true });
  }
}

function readLink(field: ReplyHeaders[string], statements: Statement[]): void {
  if (field === undefined) return;
  statements.push({ sign: 'next', name: 'Link: rel=next', stated: hasLink('next', field) });
  if (hasLink('prev', field) || hasLink('previous', field)) {
    statements.push({ sign: 'previous', name: 'Link: rel=prev', stated: true });
  }
}

/** In a malformed header the word is enough: an error is better than a missed page. */
function hasLink(rel: string, field: string | string[]): boolean {
  try {
    return linkTo(rel, field) !== undefined;
  } catch {
    return [field].flat().join().toLowerCase().includes(rel);
  }
}

function readJsonHeader(header: string, field: ReplyHeaders[string], statements: Statement[]): void {
  const inHeader: Statement[] = [];
  if (typeof field === 'string') readMembers(Object(parseJson(field)), '', MAX_DEPTH, inHeader);
  for (const { path: _, ...statement } of inHeader)
    statements.push({ ...statement, name: `${header}: ${statement.name}` });
}

/** Returns `undefined` for a value that states nothing. */
function statedBy(sign: Statement['sign'], value: unknown): number | boolean | undefined {
  if (sign === 'total' || sign === 'pages') return numberOf(value);
  return sign === 'more' ? flagOf(value) : leads(value);
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  const digits = typeof value === 'string' ? NUMBER.exec(value)?.[1] : undefined;
  return digits === undefined ? undefined : Number(digits);
}

function flagOf(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value > 0;
  const text = typeof value === 'string' ? value.toLowerCase() : '';
  if (/^(?:true|y|yes|0*[1-9]\d*)$/.test(text)) return true;
  return /^(?:false|0|n|no)$/.test(text) ? false : undefined;
}

/** Whether a value leads on: not if it is empty, `0` or `-1`, with which some platforms end their lists. */
export function leads(value: unknown): boolean | undefined {
  if (value === null || value === undefined) return false;
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value > 0;
  if (typeof value === 'string') return !['', '0', '-1', 'null', 'none', 'false'].includes(value.trim().toLowerCase());
  // A list of link objects (HAL), or of sort values to continue from (Elasticsearch).
  if (Array.isArray(value)) return value.length > 0;
  // A link object (HAL, JSON:API), or a key of several parts (DynamoDB).
  return 'href' in (value as object) ? leads(Object(value).href) : Object.keys(value as object).length > 0;
}

function below(path: string, member: string | number): string {
  if (typeof member === 'number') return `${path}[${member}]`;
  const name = IDENTIFIER.test(member) ? member : JSON.stringify(member);
  return path === '' ? name : `${path}.${name}`;
}
