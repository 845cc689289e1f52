import { type BareName, bareNamesOf, type JoinedNames, joinedNamesOf } from '../../mapping/expressions/bare-names.ts';
import type { Warning } from './warning.ts';

/** Words for what has no other kind, name or text: no platform calls a field so. */
const NO_FIELDS: ReadonlySet<string> = new Set([
  ...['true', 'false', 'null', 'none', 'other', 'others', 'unknown', 'undefined', 'unspecified', 'uncategorized'],
  ...['uncategorised', 'misc', 'miscellaneous', 'untitled', 'unnamed'],
]);

/** Kinds and states, which may be fields, too: `enabled` is, where it is mapped by `values`. */
const KINDS: ReadonlySet<string> = new Set([
  ...['active', 'inactive', 'enabled', 'disabled', 'installed', 'paused', 'running', 'manual', 'scheduled'],
  ...['automatic', 'automated', 'general', 'default', 'custom'],
]);

/** Of {@link KINDS}, those that are seldom the name of a field. */
const SELDOM_FIELDS: ReadonlySet<string> = new Set(['manual', 'automatic', 'general']);

const CAPITALS = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/;

/** Warns of names in expressions that were most likely meant as text, or as one name. */
export const warnOfExpressions: Warning = ({ offered, isWritten }, warn) => {
  for (const { resource, settings } of offered) {
    const { items, where, pagination, fields } = settings;
    const path = ['resources', resource.name];
    const check = (at: readonly string[], expression: string | undefined, isText: IsText = () => false) => {
      for (const message of messagesFor(expression, String(at.at(-1)), isText)) warn(at, message);
    };
    check([...path, 'items'], items);
    check([...path, 'pagination', 'next'], 'next' in pagination ? pagination.next : undefined);
    check([...path, 'pagination', 'total'], pagination.total);
    check([...path, 'where'], where);
    for (const [field, { from, values }] of Object.entries(fields)) {
      const at = [...path, 'fields', field];
      const isKind = resource.filters.includes(field);
      const isMapped = Object.keys(values).length > 0;
      const isText: IsText = (name) => name.name !== field && looksLikeText(name, isKind, isMapped);
      check(isWritten([...at, 'from']) ? [...at, 'from'] : at, from, isText);
    }
  }
};

type IsText = (name: BareName) => boolean;

function messagesFor(expression: string | undefined, key: string, isText: IsText): string[] {
  if (expression === undefined) return [];
  const texts = bareNamesOf(expression).filter(
    (name) => name.as === 'compared' || name.as === 'argument' || isText(name),
  );
  return [
    ...joinedNamesOf(expression).map((names) => describeJoined(names, names.written === expression.trim() ? key : '')),
    ...texts.map((name) => describe(name, key)),
  ];
}

/** `isKind`: the field distinguishes kinds of items. `isMapped`: `values` maps its text, so it comes from the platform. */
function looksLikeText({ name, as }: BareName, isKind: boolean, isMapped: boolean): boolean {
  const word = name.toLowerCase();
  if (NO_FIELDS.has(word)) return true;
  if (!isKind) return false;
  if (as === 'fallback') return KINDS.has(word) || CAPITALS.test(name);
  return !isMapped && (SELDOM_FIELDS.has(word) || CAPITALS.test(name));
}

function describe({ name, as, written, quoted }: BareName, key: string): string {
  // Alone, a text needs quotes of YAML around its own.
  const meant = as === 'value' ? `${key}: "${quoted}"` : quoted;
  const cure = `write ${meant} if that is meant, or @.${name} for the field`;
  return as === 'compared'
    ? `${written} compares two fields, not a field with ${name} itself: ${cure}`
    : `${name} is read as a field of that name, not as ${name} itself: ${cure}`;
}

/** `key`: of settings, where the names are the whole expression. Quotes of YAML stand around others then. */
function describeJoined({ written, operator, meant }: JoinedNames, key: string): string {
  const [does, cure] =
    operator === '-' ? ['subtracts', key && `${key}: '${meant}'`] : ['divides', key && `${key}: ${meant}`];
  return `${written} ${does}, and is no name: write ${cure || meant} for the field, or spaces around ${operator} if it ${does}`;
}
