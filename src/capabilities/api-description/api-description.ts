import { publishedOperation } from '../../core/http/operations/operation.ts';
import { LIST_PATH, READ_PATH } from '../../core/http/operations/reads.ts';
import { ERRORS } from '../../core/kernel/error-table.ts';
import type { Offered } from '../../core/reads/catalogue/catalogue.ts';
import { itemSchema } from '../../core/resources/resource.ts';
import { defineCapability } from '../capability.ts';

const DESCRIPTION_PATH = '/openapi.json';

/** The reads of this gateway as an OpenAPI document, open to all: it names the resources, never an item. */
export const apiDescription = defineCapability({
  open: () => ({
    operations: ({ config: { publicUrl }, offered, credentialHeaders, forwardedHeaders }) => [
      publishedOperation(DESCRIPTION_PATH, describeReads(offered, credentialHeaders, publicUrl, forwardedHeaders)),
    ],
  }),
});

const DESCRIPTION =
  'Read-only lists of a security platform. A list is complete, or the read is an error. HEAD returns the headers of GET. Unknown query parameters are ignored.';

const DEFINITIONS = {
  description: 'The resources that can be read.',
  type: 'array',
  items: {
    type: 'object',
    properties: {
      uri: { type: 'string', description: 'The URI of a resource.' },
      name: { type: 'string', description: 'Display name.' },
      description: { type: 'string' },
      mimeType: { const: 'application/json' },
    },
    required: ['uri', 'name', 'description', 'mimeType'],
    additionalProperties: false,
  },
};

/** Header fields of a request that change its answer. OpenAPI has Accept and Authorization elsewhere. */
const REQUEST_HEADERS: Readonly<Record<string, string>> = {
  'If-None-Match': 'ETags that the client has. Returns 304 if the list has not changed.',
  'Accept-Encoding': 'gzip is supported.',
  'Cache-Control': 'no-cache requests the list from the platform.',
  'X-Request-Id': 'Request id: 1 to 128 characters of A-Z a-z 0-9 . _ ~ : / + = @ -.',
  traceparent: 'Trace that the request belongs to (W3C Trace Context).',
};

/** Header fields of responses, by what has them. The documentation says what they mean. */
const HEADERS = {
  all: [
    ...['X-Request-Id', 'X-Content-Type-Options', 'Vary', 'Cache-Control', 'RateLimit-Policy', 'RateLimit'],
    ...['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers'],
  ],
  list: ['ETag', 'Content-Encoding'],
  read: ['Age', 'Cache-Status', 'Portico-Dropped-Items'],
  problem: ['WWW-Authenticate', 'Retry-After'],
};

const TEXT = { type: 'string' } as const;

function headersOf(...kinds: readonly (keyof typeof HEADERS)[]): Record<string, object> {
  return Object.fromEntries(kinds.flatMap((kind) => HEADERS[kind]).map((name) => [name, { schema: TEXT }]));
}

/** A problem body, as `response/problem.ts` makes it. */
const PROBLEM = {
  description: 'Problem details (RFC 9457). Programs should use code; title and detail are for people.',
  type: 'object',
  properties: {
    type: { type: 'string', pattern: '^urn:portico:error:[a-z_]+$' },
    title: { type: 'string', minLength: 1 },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string', minLength: 1 },
    instance: { type: 'string', pattern: '^urn:portico:request:' },
    code: { enum: Object.keys(ERRORS), description: 'Stable: codes may be added, but are never renamed.' },
    requestId: { type: 'string', description: 'The X-Request-Id of the response.' },
    upstream: { type: 'string', description: 'Name in settings of the platform that failed.' },
    retryAfterSeconds: { type: 'integer', minimum: 0, description: 'The Retry-After of the response.' },
  },
  required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'requestId'],
  additionalProperties: false,
};

/** The answers to a read with this schema: the list, the same as before, and with every other status a problem, which repeats it. */
function answersOf(description: string, headers: object, schema: object): Record<string, object> {
  const problem = { 'application/problem+json': { schema: reference('problem') } };
  return {
    200: { description, headers, content: { 'application/json': { schema } } },
    304: { description: 'The list has not changed.', headers },
    default: {
      description: 'The request failed; code says why (docs/reference.md).',
      headers: headersOf('all', 'problem'),
      content: problem,
    },
  };
}

/** `credentialHeaders`: headers beside `Authorization` in which callers bring credentials. `server`: what the paths are below. */
export function describeReads(
  offered: readonly Offered[],
  credentialHeaders: readonly string[] = [],
  server = '/',
  forwardedHeaders: readonly string[] = [],
): object {
  const lists = offered.map(({ resource, definition }) => {
    const { name, description } = resource;
    return { name, uri: definition.uri, schema: { description, type: 'array', items: itemSchema(resource) } };
  });
  const requestHeaders = Object.entries(REQUEST_HEADERS).map(([name, description]) => {
    return { name, in: 'header', description, schema: TEXT };
  });
  return {
    openapi: '3.1.1',
    info: {
      title: 'Portico',
      // Of the interface, as its paths have it. The release is not public.
      version: '1',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: server }],
    security: [Object.fromEntries(['bearer', ...credentialHeaders].map((scheme) => [scheme, []]))],
    paths: {
      [LIST_PATH]: {
        get: {
          operationId: 'listResources',
          summary: 'List the resources',
          parameters: requestHeaders,
          responses: answersOf('The resources, in a fixed order.', headersOf('all', 'list'), reference('definitions')),
        },
      },
      [READ_PATH]: {
        get: {
          operationId: 'readResource',
          summary: 'Read a resource',
          parameters: [
            {
              name: 'uri',
              in: 'query',
              required: true,
              description: 'The resource to read.',
              schema: { enum: lists.map(({ uri }) => uri) },
            },
            ...requestHeaders,
            ...forwardedHeaders.map((name) => ({
              ...{ name, in: 'header', description: 'Passed on to the platform; selects the list.' },
              schema: { type: 'string', maxLength: 256 },
            })),
          ],
          responses: answersOf('The whole list; its shape depends on uri.', headersOf('all', 'list', 'read'), {
            anyOf: lists.map(({ name }) => reference(name)),
          }),
        },
      },
    },
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An access token of the platform.' },
        ...Object.fromEntries(credentialHeaders.map((name) => [name, { type: 'apiKey', in: 'header', name }])),
      },
      schemas: {
        definitions: DEFINITIONS,
        ...Object.fromEntries(lists.map(({ name, schema }) => [name, schema])),
        problem: PROBLEM,
      },
    },
  };
}

function reference(schema: string): object {
  return { $ref: `#/components/schemas/${schema}` };
}
