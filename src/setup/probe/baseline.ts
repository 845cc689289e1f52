import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { ConfigError } from '../../core/config/config-error.ts';
import { checked, type ResourceConfig } from '../../core/config/schema/settings.ts';
import { readSettings } from '../../core/config/yaml-file.ts';
import { isObject, parseJson } from '../../core/kernel/json-shape.ts';
import { leadsOf } from '../../core/mapping/expressions/expression.ts';
import { childrenOf } from '../../core/mapping/expressions/expression-issue.ts';
import { type ExpressionNode, fieldOf, isTruthy, parse } from '../../core/mapping/expressions/jmespath.ts';
import { isMissed } from '../../core/reads/catalogue/list-checks.ts';
import type { Resource } from '../../core/resources/resource.ts';
import { expressionOf } from '../describe/shape.ts';
import { SHAPE } from '../input-bounds.ts';
import type { Finding } from './probe-report.ts';
import type { SafeText } from './safe-text.ts';
import { NotTried } from './trials.ts';

const FORMAT = 1;
const MEMBER = /^([a-z| ]+), (\d{1,3}) % empty$/;

/** What the file has of a list: names of members, and texts of the few fields that distinguish kinds of items. */
const ListShape = z.object({
  /** Types and empty share of members, by path: those of an item, and inner ones that an expression reads. */
  members: z.record(z.string(), z.string().regex(MEMBER)),
  /** Served texts, by documented field, where they are few. */
  values: z.record(z.string(), z.array(z.string())),
});
type ListShape = z.output<typeof ListShape>;

const BaselineFile = z.object({ portico: z.literal(FORMAT), resources: z.record(z.string(), ListShape) });

export interface ReadList {
  readonly resource: Resource;
  readonly settings: ResourceConfig;
  readonly sample: readonly unknown[];
  readonly items: readonly Readonly<Record<string, string>>[];
  readonly safe: SafeText;
}

/** The file of `--baseline`. */
export type Baseline = Awaited<ReturnType<typeof openBaseline>>;

/** Opens the file of `--baseline`. Throws `ConfigError` for a file that is none, or cannot be read. */
export async function openBaseline(file: string, isUpdate: boolean) {
  const recorded = existsSync(file) ? await readBaseline(file) : undefined;
  const isRecording = isUpdate || recorded === undefined;
  const shapes: Record<string, ListShape> = {};
  return {
    isRecording,
    /** Keeps the shape of a list, and compares it with that in the file. Throws `NotTried` if the file has none. */
    add(list: ReadList): readonly Finding[] {
      const { name } = list.resource;
      const shape = shapeOf(list);
      shapes[name] = shape;
      if (isRecording) return [];
      if (!Object.hasOwn(recorded, name))
        throw new NotTried('the baseline does not have this list; --update-baseline records it');
      return compare(checked(recorded[name]), shape, list);
    },
    /** Writes the file with the shapes of all lists. Throws `ConfigError`. */
    async save(): Promise<void> {
      try {
        await writeFile(file, `${JSON.stringify({ portico: FORMAT, resources: shapes }, null, 2)}\n`);
      } catch (error) {
        throw unusable(file, `cannot be written (${(error as NodeJS.ErrnoException).code})`);
      }
    },
  };
}

async function readBaseline(file: string): Promise<Readonly<Record<string, ListShape>>> {
  const { success, data } = BaselineFile.safeParse(parseJson(await readSettings(file)));
  if (success) return data.resources;
  throw unusable(file, 'is not a baseline of portico check --probe: use another file, or remove this one');
}

function unusable(file: string, message: string): ConfigError {
  return new ConfigError([{ path: [], message }], file);
}

function shapeOf({ resource, settings, sample, items, safe }: ReadList): ListShape {
  // Neither long nor with a secret.
  const isSafe = (text: string) => text !== '' && safe(text, SHAPE.length) === text;
  const inner = readIn(settings).flatMap(({ path }) => (path.length > 1 ? [path] : []));
  const names = new Set(sample.flatMap((item) => (isObject(item) ? Object.keys(item) : [])));
  for (const [first = ''] of inner) names.delete(first);
  const outer = [...names].filter(isSafe).sort().slice(0, SHAPE.members);
  const paths = [...outer.map((name) => [name]), ...inner].map((path) => [expressionOf(path), memberAt(sample, path)]);
  const values = resource.filters.map(
    (field) => [field, [...new Set(items.map((item) => item[field] ?? ''))]] as const,
  );
  const few = values.filter(([, texts]) => texts.length <= SHAPE.texts);
  return {
    members: Object.fromEntries(paths.sort()),
    values: Object.fromEntries(few.map(([field, texts]) => [field, texts.filter(isSafe).sort()])),
  };
}

/** Returns paths that settings may read: each name in an expression, and the names at its start. `key`: below the resource's. */
function readIn({ fields, where = '@' }: ResourceConfig): { readonly key: string; readonly path: readonly string[] }[] {
  const expressions = [
    ...Object.entries(fields).map(([field, { from }]) => [`fields.${field}`, from] as const),
    ['where', where] as const,
  ];
  return expressions.flatMap(([key, expression]) => {
    const node = parse(expression);
    const { fields: lead } = leadsOf(node);
    const names = [...new Set(namesIn(node))].map((name) => [name]);
    const isInner = lead.length > 1 && lead.every((step) => typeof step === 'string');
    return [...names, ...(isInner ? [lead] : [])].map((path) => ({ key, path }));
  });
}

function namesIn(node: ExpressionNode): string[] {
  return node.type === 'Field' ? [node.name] : childrenOf(node).flatMap(namesIn);
}

/** Describes a member: empty is what is missing, null, or an empty text, list or object. 0 and 100 % are none and all. */
function memberAt(sample: readonly unknown[], path: readonly string[]): string {
  const values = sample.map((item) => path.reduce(fieldOf, item)).filter((value) => value === false || isTruthy(value));
  const types = new Set(values.map((value) => (Array.isArray(value) ? 'list' : typeof value)));
  const empty = 1 - values.length / Math.max(sample.length, 1);
  const percent = empty === 0 || empty === 1 ? 100 * empty : Math.min(Math.max(Math.round(100 * empty), 1), 99);
  return `${[...types].sort().join(' | ') || 'null'}, ${percent} % empty`;
}

/** Returns what a list has lost, and what its settings do not expect (docs/decisions/0067). */
function compare(before: ListShape, now: ListShape, { resource, settings, sample }: ReadList): Finding[] {
  const { length: items } = sample;
  const { fields } = settings;
  const at = `resources.${resource.name}`;
  const readers = Map.groupBy(readIn(settings), ({ path }) => expressionOf(path));
  const members = new Map(Object.entries(now.members));

  function ofMember([path, text]: readonly [string, string]): Finding[] {
    const [, types = '', empty = ''] = MEMBER.exec(text) ?? [];
    const [, typesNow = '', emptyNow = '100'] = MEMBER.exec(members.get(path) ?? '') ?? [];
    const keys = readers.get(path)?.map(({ key }) => `${at}.${key}`);
    const [setting = `${at}.fields`] = keys ?? [];
    const look = keys === undefined ? 'no expression reads it' : `check ${keys.join(', ')}`;
    const rest = { setting, ...(keys === undefined && { mayBeRight: true as const }) };
    const share = (100 - Number(empty)) / 100;
    if (emptyNow === '100') {
      const what = `field \`${path}\` was filled in ${100 - Number(empty)} % of items and is now empty in all ${items}; ${look}`;
      return share === 1 || isMissed(share, items) ? [{ finding: 'field_gone', text: what, ...rest }] : [];
    }
    const others = typesNow.split(' | ').filter((type) => !types.split(' | ').includes(type));
    const what = `field \`${path}\` was ${types} and is now ${others.join(' | ')} in some items; ${look}`;
    return share > 0 && others.length > 0 ? [{ finding: 'field_type', text: what, ...rest }] : [];
  }

  function ofValues([field, texts]: readonly [string, readonly string[]]): Finding[] {
    const { values = {}, default: fallback } = fields[field] ?? {};
    const known = [...Object.values(values), fallback, ...(before.values[field] ?? texts)];
    const others = texts.filter((text) => !known.includes(text));
    const setting = `${at}.fields.${field}`;
    const what = `${field} is now ${others.join(', ')} in some items, which values does not map; check ${setting}.values`;
    return Object.keys(values).length > 0 && others.length > 0 ? [{ finding: 'value_new', setting, text: what }] : [];
  }

  if (items === 0) return [];
  return [...Object.entries(before.members).flatMap(ofMember), ...Object.entries(now.values).flatMap(ofValues)];
}
