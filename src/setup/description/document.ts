import { type CredentialProposal, waysIn } from '../guesses/credential.ts';
import { findItems } from '../guesses/items.ts';
import type { Listing, Parameter } from './listing.ts';
import { type Budget, isObject, type Json, listOf, type Resolve, shapeOfSchema, textOf } from './shape.ts';

/** What an OpenAPI document (2.0, 3.0, 3.1) says of a platform, as far as Portico could read it. */
export interface Description {
  readonly title: string;
  /** Where the API lives, as written: may be relative, and hold `{variables}` that have no value. */
  readonly server: string;
  readonly listings: readonly Listing[];
  readonly schemes: Json;
  readonly resolve: Resolve;
  /** References that lead out of the document; they are not followed. */
  readonly external: number;
  /** How it takes the token, where it was asked. */
  readonly credential?: CredentialProposal;
}

const MAX_HOPS = 32;
/** Of a text that is only looked at for words. */
const MAX_TEXT = 300;
/** More operations, and schemas of more parts, than any platform has: beyond, a document is not looked at. */
const MAX_PATHS = 20_000;
const MAX_PARTS = 2_000_000;

/** Reads a parsed document. Undefined where it is none. */
export function readDescription(document: unknown): Description | undefined {
  if (!isObject(document) || !isObject(document['paths'])) return undefined;
  if (typeof document['openapi'] !== 'string' && typeof document['swagger'] !== 'string') return undefined;
  let external = 0;
  const resolve = resolver(document, () => {
    external += 1;
  });
  const paths = Object.entries(document['paths']).slice(0, MAX_PATHS);
  const budget = { parts: MAX_PARTS };
  const listings = paths.flatMap(([path, value]) => listingAt(path, resolve(value), { document, resolve, budget }));
  const components = resolve(document['components']);
  const schemes = resolve(components?.['securitySchemes']) ?? resolve(document['securityDefinitions']) ?? {};
  const title = textOf(resolve(document['info'])?.['title']).slice(0, MAX_TEXT);
  return { title, server: serverOf(document, resolve), listings, schemes, resolve, external };
}

/** Follows references within the document. One that leads in a circle, nowhere or elsewhere leads to nothing. */
function resolver(document: Json, onExternal: () => void): Resolve {
  return (value) => {
    let found = value;
    for (let hop = 0; hop < MAX_HOPS; hop += 1) {
      if (!isObject(found)) return undefined;
      const reference = found['$ref'];
      if (typeof reference !== 'string') return found;
      if (!reference.startsWith('#')) {
        onExternal();
        return undefined;
      }
      found = atPointer(document, reference.slice(1));
    }
    return undefined;
  };
}

/** What a JSON pointer (RFC 6901) in the fragment of a URL points to. */
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

interface Reading {
  readonly document: Json;
  readonly resolve: Resolve;
  readonly budget: Budget;
}

/** A path that settings can hold: printable, without what would be sent as another path, and with whole names in its braces. */
function isPath(path: string): boolean {
  if (path.split('/').some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment))) return false;
  return path.length <= 500 && /^\/(?:[\x21\x25-\x3e\x40-\x5b\x5d-\x7a~]|\{[\w.-]+\})*$/.test(path);
}

function listingAt(path: string, item: Json | undefined, { document, resolve, budget }: Reading): Listing[] {
  const operation = resolve(item?.['get']);
  if (item === undefined || operation === undefined || !isPath(path)) return [];
  const answer = answerOf(operation, document, resolve);
  if (answer === undefined) return [];
  const body = shapeOfSchema(answer.schema, resolve, budget);
  const name = path.split('/').findLast((segment) => segment !== '' && !segment.startsWith('{')) ?? '';
  const found = findItems(body, name);
  if (found === undefined) return [];
  // Those of the operation come first: they replace those of the whole path.
  const all = [...listOf(operation['parameters']), ...listOf(item['parameters'])].map((each) => resolve(each));
  const parameters = new Map(
    all
      .flatMap((each) => readParameter(each, resolve))
      .toReversed()
      .map((each) => [`${each.in} ${each.name}`, each]),
  );
  return [
    {
      path,
      title: (textOf(operation['summary']) || textOf(operation['operationId'])).slice(0, MAX_TEXT),
      items: found.items,
      itemsInDoubt: found.inDoubt,
      item: found.item,
      body,
      headers: answer.headers,
      parameters: [...parameters.values()].toReversed(),
      deprecated: operation['deprecated'] === true,
      mediaType: answer.mediaType,
      security: waysIn(operation['security']) ?? waysIn(document['security']) ?? [],
    },
  ];
}

interface Answer {
  readonly schema: unknown;
  readonly mediaType: string;
  readonly headers: ReadonlySet<string>;
}

/** The JSON of a successful answer. */
function answerOf(operation: Json, document: Json, resolve: Resolve): Answer | undefined {
  const responses = resolve(operation['responses']);
  const response = resolve(responses?.['200'] ?? responses?.['2XX'] ?? responses?.['default']);
  if (response === undefined) return undefined;
  const headers = new Set(Object.keys(resolve(response['headers']) ?? {}).map((name) => name.toLowerCase()));
  if (response['schema'] !== undefined) {
    const types = [...listOf(operation['produces']), ...listOf(document['produces'])].map(textOf);
    const mediaType = types.some((type) => PLAIN_JSON.test(type)) ? '' : mediaTypeOf(types.find(isJson));
    return { schema: response['schema'], mediaType, headers };
  }
  const content = Object.entries(resolve(response['content']) ?? {}).filter(([type]) => isJson(type) || type === '*/*');
  const [type, value] = content.find(([name]) => PLAIN_JSON.test(name)) ?? content[0] ?? [];
  if (type === undefined) return undefined;
  return { schema: resolve(value)?.['schema'], mediaType: PLAIN_JSON.test(type) ? '' : mediaTypeOf(type), headers };
}

/** What Portico asks for anyway. */
const PLAIN_JSON = /^application\/json\b/i;

/** A media type without its parameters. */
function mediaTypeOf(type = ''): string {
  return /^application\/[\w.+-]+/i.exec(type)?.[0] ?? '';
}

function isJson(type: string): boolean {
  return /^application\/(?:[\w.+-]+\+)?json\b/i.test(type);
}

function readParameter(parameter: Json | undefined, resolve: Resolve): Parameter[] {
  const place = parameter?.['in'];
  const name = textOf(parameter?.['name']);
  if (
    parameter === undefined ||
    !/^[\x21-\x7a~]{1,100}$/.test(name) ||
    name in {} ||
    (place !== 'query' && place !== 'path' && place !== 'header')
  )
    return [];
  const schema = { ...parameter, ...resolve(parameter['schema']) } as Json;
  const number = (key: string) => (typeof schema[key] === 'number' ? schema[key] : undefined);
  const only = listOf(schema['enum']).length === 1 ? listOf(schema['enum'])[0] : undefined;
  const value = schema['default'] ?? only;
  return [
    {
      name,
      in: place,
      required: parameter['required'] === true,
      description: (textOf(parameter['description']) || textOf(schema['description'])).slice(0, MAX_TEXT),
      value: isSendable(value) ? String(value) : undefined,
      minimum: number('minimum'),
      maximum: number('maximum'),
      isNumber: [schema['type']].flat().some((type) => type === 'integer' || type === 'number'),
      isFlag: [schema['type']].flat().includes('boolean') || listOf(schema['enum']).join() === 'true,false',
    },
  ];
}

/** Whether settings can send it: printable ASCII. */
function isSendable(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value) && /^[\x20-\x7e]{1,200}$/.test(String(value));
}

function serverOf(document: Json, resolve: Resolve): string {
  const server = resolve(listOf(document['servers'])[0]);
  if (server !== undefined) {
    const variables = resolve(server['variables']) ?? {};
    return textOf(server['url']).replace(/\{([^{}]*)\}/g, (whole, name: string) => {
      const value = textOf(resolve(variables[name])?.['default']);
      return value === '' ? whole : value;
    });
  }
  const host = textOf(document['host']);
  const schemes = listOf(document['schemes']);
  const basePath = textOf(document['basePath']).replace(/\/$/, '');
  return host === ''
    ? basePath
    : `${schemes.length > 0 && !schemes.includes('https') ? 'http' : 'https'}://${host}${basePath}`;
}
