import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { loadSettings } from '../../src/composition.ts';
import type { Config } from '../../src/core/config/schema/settings.ts';
import { RESOURCES } from '../../src/core/resources/index.ts';
import { describeDocument, parseDocumentText } from '../../src/setup/describe/openapi-document.ts';
import { baseUrlOf } from '../../src/setup/init/base-url.ts';
import { propose } from '../../src/setup/init/proposal.ts';
import { type SettingsText, writeSettings } from '../../src/setup/init/settings-text.ts';
import { inFolder } from '../support/process/process.ts';

/** What a settings file holds of one resource. */
export interface WrittenResource {
  readonly enabled?: boolean;
  readonly path?: string;
  readonly pathParams?: Readonly<Record<string, string>>;
  readonly items?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly pagination?: Readonly<Record<string, string | number>>;
  readonly fields?: Readonly<Record<string, unknown>>;
}

export interface Proposed extends SettingsText {
  readonly written: {
    readonly upstreams: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    readonly resources: Readonly<Record<string, WrittenResource>>;
  };
}

/** The settings that are proposed for an OpenAPI document, as text and as YAML. */
export function proposedFor(document: unknown, from?: string): Proposed {
  const description = describeDocument(typeof document === 'string' ? parseDocumentText(document) : document);
  if (description === undefined) throw new Error('that is no OpenAPI document');
  const proposal = propose(description, RESOURCES);
  const place = baseUrlOf(description.server, { document: from });
  const settings = writeSettings(description, proposal, place, 'openapi.yaml');
  return { ...settings, written: parse(settings.text) };
}

/** Loads a proposal as settings, with a value for each variable that it asks for. */
export function loadProposed({ text, variables }: SettingsText): Promise<Config> {
  const values = [...variables.keys()].map((name) => [name, name.endsWith('_URL') ? 'https://a.example' : 'x']);
  return inFolder(async (folder) => {
    const file = join(folder, 'portico.yaml');
    await writeFile(file, text);
    return (await loadSettings(file, Object.fromEntries(values))).config;
  });
}

/** The least OpenAPI document with these list operations. */
export function openApi(paths: Readonly<Record<string, object>>, more: object = {}): object {
  return {
    openapi: '3.1.0',
    info: { title: 'Acme API', version: '1' },
    servers: [{ url: 'https://api.acme.dev' }],
    paths: Object.fromEntries(Object.entries(paths).map(([path, get]) => [path, { get }])),
    ...more,
  };
}

/** An operation that answers with `schema`. */
export function listing(schema: object, more: object = {}, headers: object = {}): object {
  return { responses: { 200: { description: '', headers, content: { 'application/json': { schema } } } }, ...more };
}

/** A schema: an object with these members. */
export function object(properties: Readonly<Record<string, object>>): object {
  return { type: 'object', properties };
}

/** A schema: a list of objects with an id, a name, and these members. */
export function list(properties: Readonly<Record<string, object>> = {}): object {
  return { type: 'array', items: object({ id: text, name: text, ...properties }) };
}

export const text = { type: 'string' };
export const number = { type: 'integer' };

/** A query parameter. */
export function parameter(name: string, schema: object = number, more: object = {}): object {
  return { name, in: 'query', schema, ...more };
}
