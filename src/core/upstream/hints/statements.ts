import { parseJson } from '../../kernel/json-shape.ts';
import type { ReplyHeaders } from '../upstream.ts';
import { linkTo } from './link-header.ts';
import { HEADERS, MEMBERS, META, type Sign } from './words.ts';

/** One statement of a reply about the rest of its list. */
export interface Statement {
  readonly sign: Exclude<Sign, 'fullPage'>;
  readonly name: string;
  /** Place as an expression; absent for a header. */
  readonly path?: string;
  /** The number of all items or pages, or whether there are more. */
  readonly stated: number | boolean;
}

/** An object that encloses the list. `fields`: its path in the body. */
export interface Enclosing {
  readonly fields: readonly (string | number)[];
  readonly value: object;
}

const MEMBERS_BY_KEY = Map.groupBy(
  Object.entries(MEMBERS).flatMap(([sign, names]) => names.map((name) => ({ sign, name }))),
  ({ name }) => keyOf(name),
);
const META_KEYS = new Set(META.map(keyOf));
const HEADERS_BY_NAME = new Map(
  Object.entries(HEADERS).flatMap(([sign, names]) =>
    names.map((name) => [name.toLowerCase(), { sign: sign as keyof typeof HEADERS, name }] as const),
  ),
);

const MAX_KEY = 40;
const MAX_DEPTH = 3;
const MAX_LINKS = 50;
const IDENTIFIER = /^[A-Za-z_]\w*$/;
/** Value of RFC 9110, section 14.4, or as PostgREST has it without a unit. */
const RANGE = /^\s*(?:(?!bytes)[\w-]+[\s=]\s*)?(?:\d+-\d+|\*)\/(\d{1,40})\s*$/i;
const NUMBER = /^\s*\+?(\d{1,40})(?:\.0*)?\s*$/;

/** It reads no item, so that it takes the same few microseconds for any list. */
export function statementsOf(enclosing: readonly Enclosing[], headers: ReplyHeaders): Statement[] {
  const statements: Statement[] = [];
  for (const { fields, value } of enclosing) readMembers(value, fields.reduce<string>(below, ''), 0, statements);
  return [...statements, ...headerStatements(headers)];
}

/** Collects the statements of headers alone. */
export function headerStatements(headers: ReplyHeaders): Statement[] {
  const statements: Statement[] = [];
  for (const header in headers) {
    const known = HEADERS_BY_NAME.get(header);
    if (known === undefined) continue;
    const { sign, name } = known;
    // Some proxies add a header that is already present.
    const texts = [headers[header]].flat().join().split(',');
    for (const stated of new Set(texts.map((text) => statedBy(sign, text.trim())))) {
      if (stated !== undefined) statements.push({ sign, name, stated });
    }
  }
  readLink(headers['link'], statements);
  const range = RANGE.exec(String(headers['content-range'] ?? ''));
  if (range !== null) statements.push({ sign: 'total', name: 'Content-Range', stated: Number(range[1]) });
  readJsonHeader(headers['x-pagination'], statements);
  return statements;
}

function readMembers(scope: object, path: string, depth: number, statements: Statement[]): void {
  for (const member in scope) {
    if (member.length > MAX_KEY) continue;
    const key = keyOf(member);
    const named = MEMBERS_BY_KEY.get(key);
    const isMeta = META_KEYS.has(key);
    if (named === undefined && !isMeta) continue;
    const value: unknown = (scope as Record<string, unknown>)[member];
    const place = below(path, member);
    for (const { sign, name } of named ?? []) readMember(sign, name, value, place, statements);
    if (!isMeta || depth === MAX_DEPTH || typeof value !== 'object' || value === null) continue;
    if (Array.isArray(value)) readLinks(value, place, statements);
    else readMembers(value, place, depth + 1, statements);
  }
}

function readMember(sign: string, name: string, value: unknown, path: string, statements: Statement[]): void {
  if (sign === 'total' && typeof value === 'object') {
    readTotalObject(name, value, path, statements);
  } else if (sign === 'end') {
    // A number of this name is that of the last page.
    const ended = typeof value === 'number' ? undefined : flagOf(value);
    if (ended !== undefined) statements.push({ sign: 'more', name, path, stated: !ended });
  } else {
    const known = sign as Statement['sign'];
    const stated = statedBy(known, value);
    if (stated !== undefined) statements.push({ sign: known, name, path, stated });
  }
}

/** The total of Elasticsearch. With the relation `gte` it is a lower bound. */
function readTotalObject(name: string, value: object | null, path: string, statements: Statement[]): void {
  const { value: number, relation } = Object(value);
  const total = numberOf(number);
  if (total === undefined) return;
  statements.push({ sign: 'total', name, path: below(path, 'value'), stated: relation === 'gte' ? total + 1 : total });
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

function readJsonHeader(field: ReplyHeaders[string], statements: Statement[]): void {
  const inHeader: Statement[] = [];
  if (typeof field === 'string') readMembers(Object(parseJson(field)), '', MAX_DEPTH, inHeader);
  for (const { sign, name, stated } of inHeader) statements.push({ sign, name: `X-Pagination: ${name}`, stated });
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
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : undefined;
}

/** Whether a value leads on: not if it is empty, `0` or `-1`, with which some platforms end their lists. */
function leads(value: unknown): boolean | undefined {
  if (value === null || value === undefined) return false;
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value > 0;
  if (typeof value === 'string') return !['', '0', '-1', 'null', 'none', 'false'].includes(value.trim().toLowerCase());
  // A list of link objects (HAL), or of sort values to continue from (Elasticsearch).
  if (Array.isArray(value)) return value.length > 0;
  // A link object (HAL, JSON:API), or a key of several parts (DynamoDB).
  return 'href' in (value as object) ? leads(Object(value).href) : Object.keys(value as object).length > 0;
}

function keyOf(name: string): string {
  return name.replace(/[^A-Za-z0-9]/g, '').toLowerCase();
}

function below(path: string, member: string | number): string {
  if (typeof member === 'number') return `${path}[${member}]`;
  const name = IDENTIFIER.test(member) ? member : JSON.stringify(member);
  return path === '' ? name : `${path}.${name}`;
}
