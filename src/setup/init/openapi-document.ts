import querystring from 'node:querystring';
import { parseDocument } from 'yaml';
import { isObject, type Json, parseJson } from '../../core/kernel/json-shape.ts';
import { DOCUMENT } from '../input-bounds.ts';
import { listOf, type Resolve, type Shape, shapeOf, textOf } from './shape.ts';

/** An OpenAPI document, as far as it describes lists. */
export interface Api {
  readonly title: string;
  /** Where the API lives, as written: can be relative, and hold `{variables}`. Empty if unknown. */
  readonly server: string;
  readonly operations: readonly DocumentedOperation[];
  readonly securitySchemes: ReadonlyMap<string, Json>;
}

/** A `GET` with a JSON reply. */
export interface DocumentedOperation {
  /** Below the base URL, with `{name}` for each variable part: `/orgs/{org}/installations`. */
  readonly path: string;
  readonly title: string;
  readonly isDeprecated: boolean;
  readonly body: Shape;
  /** Names of response headers, in lower case. */
  readonly headers: ReadonlySet<string>;
  /** Those of the query. */
  readonly parameters: readonly Parameter[];
  /** Names of other headers that it requires. */
  readonly requiredHeaders: readonly string[];
  /** Alternatives, each with all schemes that it needs together. */
  readonly security: readonly (readonly string[])[];
}

export interface Parameter {
  readonly name: string;
  readonly required: boolean;
  readonly default: number | undefined;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly isFlag: boolean;
}

/**
 * Tolerant, since many published documents are not valid YAML. Undefined if nothing can be read, or if aliases multiply. What would
 * refer to the environment in settings is escaped.
 */
export function parseDocumentText(written: string): unknown {
  const text = written.replaceAll('${', () => '$${');
  const options = { strict: false, uniqueKeys: false, prettyErrors: false, logLevel: 'silent' } as const;
  try {
    return parseJson(text) ?? parseDocument(text, options).toJS({ maxAliasCount: DOCUMENT.aliases });
  } catch {
    return undefined;
  }
}

/** Describes a platform by its parsed OpenAPI document (2.0, 3.0 or 3.1). Returns undefined for anything else. */
export function describeApi(document: unknown): Api | undefined {
  if (!isObject(document) || !isObject(document['paths'])) return undefined;
  if (typeof document['openapi'] !== 'string' && typeof document['swagger'] !== 'string') return undefined;
  const resolve: Resolve = (value) => resolveIn(document, value);
  const within = (value: unknown) => resolve(value) ?? {};
  const paths = Object.entries(document['paths']);
  const schemes = within(within(document['components'])['securitySchemes'] ?? document['securityDefinitions']);
  return {
    title: shortText(within(document['info'])['title']),
    server: serverOf(document, within),
    operations: paths.flatMap(([path, item]) => readOperation(path, within(item), document, resolve)),
    securitySchemes: new Map(Object.entries(schemes).map(([name, scheme]) => [name, within(scheme)])),
  };
}

/** Follows references within the document (RFC 6901). One that leads in a circle or nowhere leads to nothing. */
function resolveIn(document: Json, value: unknown, hops = 0): Json | undefined {
  if (!isObject(value) || hops === DOCUMENT.references) return undefined;
  const reference = value['$ref'];
  if (typeof reference !== 'string' || !reference.startsWith('#')) return value;
  const keys = reference
    .split('/')
    .slice(1)
    .map((part) => querystring.unescape(part).replaceAll('~1', '/').replaceAll('~0', '~'));
  const target = keys.reduce<unknown>((found, key) => {
    return Object.hasOwn(Object(found), key) ? (found as Json)[key] : undefined;
  }, document);
  return resolveIn(document, target, hops + 1);
}

function shortText(value: unknown): string {
  return textOf(value).slice(0, DOCUMENT.textLength);
}

/** Whether settings can hold a path: printable, and with complete names in its braces. */
function isPath(path: string): boolean {
  return path.length <= 500 && /^\/(?:[\x21\x25-\x3e\x40-\x5b\x5d-\x7a~]|\{[\w.-]+\})*$/.test(path);
}

type Within = (value: unknown) => Json;

function readOperation(path: string, item: Json, document: Json, resolve: Resolve): DocumentedOperation[] {
  const within = (value: unknown) => resolve(value) ?? {};
  const operation = within(item['get']);
  const reply = replyOf(operation, within);
  if (reply === undefined || !isPath(path)) return [];
  // Parameters of the operation replace those of the whole path.
  const declared = [...listOf(item['parameters']), ...listOf(operation['parameters'])].map(within);
  const parameters = declared.flatMap((each) => readParameter(each, within));
  const security = listOf(operation['security'] ?? document['security']);
  return [
    {
      path,
      title: shortText(operation['summary']) || shortText(operation['operationId']),
      isDeprecated: operation['deprecated'] === true,
      body: shapeOf(reply.schema, resolve),
      headers: new Set(Object.keys(reply.headers).map((name) => name.toLowerCase())),
      requiredHeaders: declared.flatMap(readRequiredHeader),
      parameters: [...new Map(parameters.map((each) => [each.name, each])).values()],
      security: security.map((way) => Object.keys(isObject(way) ? way : {})),
    },
  ];
}

const JSON_TYPE = /^(?:\*\/\*|application\/(?:[\w.+-]+\+)?json\b)/i;

function replyOf(operation: Json, within: Within): { readonly schema: unknown; readonly headers: Json } | undefined {
  const responses = within(operation['responses']);
  const response = within(responses['200'] ?? responses['2XX'] ?? responses['default']);
  const headers = within(response['headers']);
  // OpenAPI 2.0 has the schema in the response itself.
  if (response['schema'] !== undefined) return { schema: response['schema'], headers };
  const content = Object.entries(within(response['content'])).find(([type]) => JSON_TYPE.test(type));
  return content && { schema: within(content[1])['schema'], headers };
}

function readParameter(parameter: Json, within: Within): Parameter[] {
  const name = textOf(parameter['name']);
  if (parameter['in'] !== 'query' || !/^[\x21-\x7a~]{1,100}$/.test(name) || name in {}) return [];
  const schema: Json = { ...parameter, ...within(parameter['schema']) };
  const number = (key: string) => (typeof schema[key] === 'number' ? schema[key] : undefined);
  const values = listOf(schema['enum']);
  return [
    {
      name,
      required: parameter['required'] === true,
      default: number('default'),
      minimum: number('minimum'),
      maximum: number('maximum'),
      isFlag: [schema['type']].flat().includes('boolean') || values.join() === 'true,false',
    },
  ];
}

/** Headers that Portico or the credential sends. */
const SENT = /^(?:accept|authorization|content-type|user-agent)$/i;

function readRequiredHeader(parameter: Json): string[] {
  const name = textOf(parameter['name']);
  const isAsked = parameter['in'] === 'header' && parameter['required'] === true;
  return isAsked && !SENT.test(name) ? [name.slice(0, 100)] : [];
}

/** Variables of a server stay in braces. */
function serverOf(document: Json, within: Within): string {
  const [server] = listOf(document['servers']);
  if (server !== undefined) return textOf(within(server)['url']);
  const [host, basePath] = [textOf(document['host']), textOf(document['basePath']).replace(/\/$/, '')];
  return host === '' ? basePath : `https://${host}${basePath}`;
}
