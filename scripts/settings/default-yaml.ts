import { isDeepStrictEqual } from 'node:util';
import { stringify } from 'yaml';
import { SLICES } from '../../src/composition.ts';
import { parseSettings } from '../../src/core/config/load-config.ts';
import { RESOURCES } from '../../src/core/resources/index.ts';
import { kindOf, resolved, type SettingSchema, settingsSchemaOf } from './setting-list.ts';

const HEAD = `# yaml-language-server: $schema=./schema.json
#
# Written by npm run settings. Every setting that has a default, with that default. You only need upstreams.
# docs/configuration.md describes all settings, also those without a default (tls, verification, shared and others).
# Units are part of the names: ...Ms is milliseconds, ...Bytes is bytes.
#
# Environment: PROJECTS_URL, WORKFLOWS_URL and TOOLS_URL, such as https://api.example.com; PORTICO_TOKEN for portico stdio.
`;

type Values = Readonly<Record<string, unknown>>;

const ROOT = settingsSchemaOf();
const [FIRST, ...OTHERS] = RESOURCES.map(({ name }) => name);

/** The text of `config/default.yaml`: every setting that has a default, with the first sentence of its description. */
export function defaultYaml(): string {
  const baseUrls = RESOURCES.map(({ name }) => [name, { baseUrl: `https://${name}.example` }]);
  const config = parseSettings({ upstreams: Object.fromEntries(baseUrls) }, RESOURCES, SLICES);
  const shown = { ...config, upstreams: withVariables(config.upstreams), resources: withoutRepeats(config.resources) };
  return `${HEAD}${blockLines(shown, ROOT, '', new Set()).join('\n')}\n`;
}

function withVariables(upstreams: Values): Values {
  const variable = (name: string) => ({ baseUrl: `\${${name.toUpperCase()}_URL}` });
  const others = OTHERS.map((name) => [name, variable(name)]);
  return {
    [String(FIRST)]: { ...Object(upstreams[String(FIRST)]), ...variable(String(FIRST)) },
    ...Object.fromEntries(others),
  };
}

/** Leaves out of every resource but the first what is the same there, except how it is paged. */
function withoutRepeats(resources: Values): Values {
  const first = resources[String(FIRST)] as Values;
  const others = OTHERS.map((name) => {
    const own = Object.entries(resources[name] as Values).filter(
      ([key, value]) => key === 'pagination' || (key !== 'upstream' && !isDeepStrictEqual(value, first[key])),
    );
    return [name, Object.fromEntries(own)];
  });
  return { [String(FIRST)]: first, ...Object.fromEntries(others) };
}

/** The lines of a block; `described` holds the comments that stand above already. */
function blockLines(values: Values, schema: SettingSchema, indent: string, described: Set<string>): string[] {
  return Object.entries(childrenOf(values, schema)).flatMap(([key, child]) => {
    const value = values[key];
    if (value === undefined) return [];
    const comment = key === 'kind' ? '' : (child.description?.split(/(?<=\.)\s/)[0] ?? '');
    const above = comment === '' || described.has(comment) ? [] : [`${indent}# ${comment}`];
    described.add(comment);
    const isBlock = isMap(value) && Object.keys(childrenOf(value, child)).length > 0;
    if (!isBlock) return [...above, `${indent}${key}: ${inline(value)}`];
    const gap = indent === '' ? [''] : [];
    return [...gap, ...above, `${indent}${key}:`, ...blockLines(value, child, `${indent}  `, described)];
  });
}

/** The schemas of what a block holds: of its keys, or of its names. */
function childrenOf(values: Values, schema: SettingSchema): Readonly<Record<string, SettingSchema>> {
  const { anyOf, properties, additionalProperties } = resolved(schema, ROOT);
  const ofKind = anyOf?.find((option) => kindOf(option) !== undefined && kindOf(option) === values['kind']);
  if (ofKind !== undefined) return childrenOf(values, ofKind);
  if (properties !== undefined) return properties;
  if (typeof additionalProperties !== 'object' || additionalProperties.properties === undefined) return {};
  return Object.fromEntries(Object.keys(values).map((name) => [name, additionalProperties]));
}

function isMap(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function inline(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0, flowCollectionPadding: true }).trimEnd();
}
