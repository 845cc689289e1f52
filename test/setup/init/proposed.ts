import { parse } from 'yaml';
import { loadSettings } from '../../../src/composition.ts';
import type { Config } from '../../../src/core/config/schema/settings.ts';
import { propose } from '../../../src/setup/init/init-command.ts';
import { describeApi, parseDocumentText } from '../../../src/setup/init/openapi-document.ts';
import { writeSettings } from '../../../src/setup/init/settings-text.ts';
import { settingsFile } from '../../support/process/process.ts';

/** What a settings file holds of one resource. */
export interface WrittenResource {
  readonly enabled?: boolean;
  readonly path?: string;
  readonly items?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly pagination?: Readonly<Record<string, string | number>>;
  readonly fields?: Readonly<Record<string, unknown>>;
}

export interface Proposed {
  readonly text: string;
  /** Resources that are filled in. */
  readonly offered: readonly string[];
  readonly written: {
    readonly upstreams: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    readonly resources: Readonly<Record<string, WrittenResource>>;
  };
}

/** The settings that are proposed for an OpenAPI document, as text and as YAML. */
export function proposedFor(document: unknown): Proposed {
  const api = describeApi(typeof document === 'string' ? parseDocumentText(document) : document);
  if (api === undefined) throw new Error('that is no OpenAPI document');
  const text = writeSettings(propose(api, 'openapi.yaml', 'https://api.acme.dev'));
  const written: Proposed['written'] = parse(text);
  const offered = Object.entries(written.resources).flatMap(([name, { enabled }]) => (enabled === false ? [] : [name]));
  return { text, written, offered };
}

/** Loads a proposal as settings. */
export async function loadProposed({ text }: Pick<Proposed, 'text'>): Promise<Config> {
  return (await loadSettings(await settingsFile(text), {})).config;
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
