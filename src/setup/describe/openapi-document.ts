import { parseDocument } from 'yaml';
import { isObject, type Json, parseJson } from '../../core/kernel/json-shape.ts';
import { guessCredential, schemesIn } from '../guess/guess-credential.ts';
import { guessItems, isInDoubt } from '../guess/guess-items.ts';
import { DOCUMENT } from '../input-bounds.ts';
import { type Description, type Listing, lastName, type Parameter } from './listing.ts';
import { listOf, type Resolve, shapeOfSchema, textOf } from './shape.ts';

/** Tolerant, since many published documents are not valid YAML. Undefined if nothing can be read, or if aliases multiply. */
export function parseDocumentText(text: string): unknown {
  const options = { strict: false, uniqueKeys: false, prettyErrors: false, logLevel: 'silent' } as const;
  try {
    return parseJson(text) ?? parseDocument(text, options).toJS({ maxAliasCount: DOCUMENT.aliases });
  } catch {
    return undefined;
  }
}

/** Describes a platform by its parsed OpenAPI document (2.0, 3.0 or 3.1). Returns undefined for anything else. */
export function describeDocument(document: unknown): Description | undefined {
  if (!isObject(document) || !isObject(document['paths'])) return undefined;
  if (typeof document['openapi'] !== 'string' && typeof document['swagger'] !== 'string') return undefined;
  const resolve = resolver(document);
  const paths = Object.entries(document['paths']).slice(0, DOCUMENT.paths);
  const listings = paths.flatMap(([path, value]) => listingAt(path, resolve(value), document, resolve));
  const components = resolve(document['components']);
  const schemes = resolve(components?.['securitySchemes']) ?? resolve(document['securityDefinitions']) ?? {};
  const title = shortText(resolve(document['info'])?.['title']);
  const credentialFor: Description['credentialFor'] = (used) => guessCredential(schemes, used, resolve);
  return { title, server: serverOf(document, resolve), listings, credentialFor };
}

/** Follows references within the document. One that leads in a circle, nowhere or elsewhere leads to nothing. */
function resolver(document: Json): Resolve {
  let parts = 0;
  return (value) => {
    parts += 1;
    let found = parts > DOCUMENT.parts ? undefined : value;
    for (let hop = 0; hop < DOCUMENT.references; hop += 1) {
      if (!isObject(found)) return undefined;
      const reference = found['$ref'];
      if (typeof reference !== 'string') return found;
      if (!reference.startsWith('#')) return undefined;
      found = atPointer(document, reference.slice(1));
    }
    return undefined;
  };
}

/** Returns what a JSON pointer (RFC 6901) in the fragment of a URL points to. */
function atPointer(document: Json, pointer: string): unknown {
  let found: unknown = document;
  for (const part of pointer.split('/').slice(1)) {
    const key = decode(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Json)[key];
  }
  return found;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function shortText(value: unknown): string {
  return textOf(value).slice(0, DOCUMENT.textLength);
}

/** Whether settings can hold a path: printable, and with complete names in its braces. */
function isPath(path: string): boolean {
  return path.length <= 500 && /^\/(?:[\x21\x25-\x3e\x40-\x5b\x5d-\x7a~]|\{[\w.-]+\})*$/.test(path);
}

function listingAt(path: string, item: Json | undefined, document: Json, resolve: Resolve): Listing[] {
  const operation = resolve(item?.['get']);
  if (item === undefined || operation === undefined || !isPath(path)) return [];
  const reply = replyOf(operation, resolve);
  if (reply === undefined) return [];
  const body = shapeOfSchema(reply.schema, resolve);
  const guesses = guessItems(body, lastName(path));
  const [found] = guesses;
  if (found === undefined) return [];
  // Parameters of the operation replace those of the whole path.
  const declared = [...listOf(item['parameters']), ...listOf(operation['parameters'])].map((each) => resolve(each));
  const parameters = declared.flatMap((each) => readParameter(each, resolve));
  return [
    {
      path,
      title: shortText(operation['summary']) || shortText(operation['operationId']),
      items: found.items,
      itemsInDoubt: isInDoubt(guesses),
      item: found.item,
      body,
      headers: reply.headers,
      parameters: [...new Map(parameters.map((each) => [each.name, each])).values()],
      security: schemesIn(operation['security']) ?? schemesIn(document['security']) ?? [],
    },
  ];
}

function replyOf(operation: Json, resolve: Resolve) {
  const responses = resolve(operation['responses']);
  const response = resolve(responses?.['200'] ?? responses?.['2XX'] ?? responses?.['default']);
  if (response === undefined) return undefined;
  const names = Object.keys(resolve(response['headers']) ?? {});
  const headers = new Map(names.map((name) => [name.toLowerCase(), '']));
  // OpenAPI 2.0 has the schema in the response itself.
  if (response['schema'] !== undefined) return { schema: response['schema'], headers };
  const contents = Object.entries(resolve(response['content']) ?? {}).filter(([type]) => JSON_TYPE.test(type));
  // What Portico accepts by default comes first.
  const [, content] = contents.find(([type]) => /^application\/json\b/i.test(type)) ?? contents[0] ?? [];
  return content === undefined ? undefined : { schema: resolve(content)?.['schema'], headers };
}

const JSON_TYPE = /^(?:\*\/\*|application\/(?:[\w.+-]+\+)?json\b)/i;

function readParameter(parameter: Json | undefined, resolve: Resolve): Parameter[] {
  const name = textOf(parameter?.['name']);
  if (parameter === undefined || !/^[\x21-\x7a~]{1,100}$/.test(name) || name in {}) return [];
  if (parameter['in'] !== 'query') return [];
  const schema = { ...parameter, ...resolve(parameter['schema']) } as Json;
  const number = (key: string) => (typeof schema[key] === 'number' ? schema[key] : undefined);
  const values = listOf(schema['enum']);
  const types = [schema['type']].flat();
  const value = schema['default'] ?? (values.length === 1 ? values[0] : undefined);
  return [
    {
      name,
      required: parameter['required'] === true,
      value: isSendable(value) ? String(value) : undefined,
      minimum: number('minimum'),
      maximum: number('maximum'),
      isNumber: types.includes('integer') || types.includes('number'),
      isFlag: types.includes('boolean') || values.join() === 'true,false',
    },
  ];
}

/** Whether settings can send a value: printable ASCII. */
function isSendable(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value) && /^[\x20-\x7e]{1,200}$/.test(String(value));
}

function serverOf(document: Json, resolve: Resolve): string {
  const server = resolve(listOf(document['servers'])[0]);
  if (server !== undefined) {
    const variables = resolve(server['variables']) ?? {};
    return textOf(server['url']).replace(/\{([^{}]*)\}/g, (whole, name: string) => {
      return textOf(resolve(variables[name])?.['default']) || whole;
    });
  }
  const host = textOf(document['host']);
  const schemes = listOf(document['schemes']);
  const scheme = schemes.length > 0 && !schemes.includes('https') ? 'http' : 'https';
  const basePath = textOf(document['basePath']).replace(/\/$/, '');
  return host === '' ? basePath : `${scheme}://${host}${basePath}`;
}
