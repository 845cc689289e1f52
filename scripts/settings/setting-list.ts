import { SLICES } from '../../src/composition.ts';
import { RESOURCES } from '../../src/core/resources/index.ts';
import { settingsJsonSchema } from '../../src/setup/json-schema.ts';

/** What JSON Schema says of one setting or block. */
export interface SettingSchema {
  readonly description?: string;
  readonly default?: unknown;
  readonly type?: string;
  readonly const?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly anyOf?: readonly SettingSchema[];
  readonly items?: SettingSchema;
  readonly properties?: Readonly<Record<string, SettingSchema>>;
  readonly additionalProperties?: SettingSchema | false;
  readonly required?: readonly string[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, SettingSchema>>;
}

/** One key of settings, as often as there are resources or fields that have it. */
export interface Setting {
  /** The block that it stands in, with `<name>` and `<field>` for names: `upstreams.<name>.credential of kind none`. */
  readonly block: string;
  readonly key: string;
  readonly schema: SettingSchema;
  readonly required: boolean;
  /** The resource or field whose block it is, if any. */
  readonly of: string;
}

/** Every setting of a JSON Schema. */
export function settingsOf(root: SettingSchema): Setting[] {
  const walk = (schema: SettingSchema, place: string, of: string): Setting[] => {
    const { anyOf = [], properties = {}, required = [], additionalProperties } = resolved(schema, root);
    const kind = kindOf({ properties });
    const block = kind === undefined ? place : `${place} of kind ${kind}`;
    return [
      ...anyOf.flatMap((option) => walk(option, place, of)),
      ...(typeof additionalProperties === 'object' ? walk(additionalProperties, `${place}.<name>`, of) : []),
      ...Object.entries(properties).flatMap(([key, child]) => [
        { block, key, schema: child, required: required.includes(key), of },
        ...walk(child, below(place, key), isListOfNames(place) ? key : of),
      ]),
    ];
  };
  return walk(root, '', '');
}

/** Blocks whose keys are an upstream's own words. */
const FREE = /\.(body|headers|query|values)$/;

/** The settings that stand in a settings object, as `block key`. */
export function settingsIn(settings: unknown, place = ''): string[] {
  if (typeof settings !== 'object' || settings === null || Array.isArray(settings) || FREE.test(place)) return [];
  const block = 'kind' in settings ? `${place} of kind ${settings.kind}` : place;
  return Object.entries(settings).flatMap(([key, value]) => [
    `${block} ${key}`,
    ...settingsIn(value, below(place, key)),
  ]);
}

function below(place: string, key: string): string {
  if (isListOfNames(place)) return `${place}.<${place === 'resources.<name>.fields' ? 'field' : 'name'}>`;
  return place === '' ? key : `${place}.${key}`;
}

/** Whether the keys of this block are names, with the same settings under each. */
function isListOfNames(place: string): boolean {
  return ['upstreams', 'resources', 'resources.<name>.fields'].includes(place);
}

/** The JSON Schema of all settings. */
export function settingsSchemaOf(): SettingSchema {
  return JSON.parse(settingsJsonSchema(RESOURCES, SLICES));
}

/** The schema that a reference of `root` is to. */
export function resolved(schema: SettingSchema, root: SettingSchema): SettingSchema {
  const target = schema.$ref?.replace('#/$defs/', '');
  return target === undefined ? schema : { ...root.$defs?.[target], ...schema };
}

/** The `kind` that a block of a union is for. */
export function kindOf({ properties }: SettingSchema): string | undefined {
  return properties?.['kind']?.anyOf?.[0]?.const;
}

/**
 * The keys that a person can write, by their paths. A key with values below it is a block and not counted. Names (of upstreams,
 * resources and fields) are no keys: what is below them counts once. What several kinds of pagination or credential have in
 * common counts once; a block that several places have, such as tls, counts at each of them.
 */
export function settingKeys(root: SettingSchema = settingsSchemaOf()): string[] {
  const all = settingsOf(root);
  const pathOf = (block: string, key: string) =>
    [block.replace(/ of kind [\w-]+$/, ''), key].join('.').replace(/^\./, '');
  const blocks = new Set(all.map(({ block }) => pathOf(block, '').replace(/(?:\.<\w+>)?\.?$/, '')));
  const paths = all.filter(({ block }) => !isListOfNames(block)).map(({ block, key }) => pathOf(block, key));
  return [...new Set(paths)].filter((path) => !blocks.has(path)).sort();
}
