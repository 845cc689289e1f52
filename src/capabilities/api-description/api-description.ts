import { publishedOperation } from '../../core/http/operations/operation.ts';
import { LIST_PATH, READ_PATH } from '../../core/http/operations/reads.ts';
import type { Offered } from '../../core/reads/catalogue/catalogue.ts';
import { itemSchema } from '../../core/resources/resource.ts';
import { defineCapability } from '../capability.ts';
import { HEADER_COMPONENTS, HEADERS, headersOf } from './headers.ts';
import { CODES, PROBLEM, problemResponses } from './problems.ts';

export const DESCRIPTION_PATH = '/openapi.json';

/** The reads of this gateway as an OpenAPI document, open to all: it names the resources, never an item. */
export const apiDescription = defineCapability({
  open: () => ({
    operations: ({ config: { publicUrl }, offered, otherCredentials }) => [
      publishedOperation(DESCRIPTION_PATH, describeReads(offered, otherCredentials, publicUrl)),
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
  'Accept-Encoding': 'zstd and gzip are supported.',
  'Cache-Control': 'no-cache requests the list from the platform.',
  'X-Request-Id': 'Request id: 1 to 128 characters of A-Z a-z 0-9 . _ ~ : / + = @ -.',
  traceparent: 'Trace that the request belongs to (W3C Trace Context).',
};

/** `otherCredentials`: headers beside `Authorization` in which callers bring credentials. `server`: what the paths are below. */
export function describeReads(
  offered: readonly Offered[],
  otherCredentials: readonly string[] = [],
  server = '/',
): object {
  const lists = offered.map(({ resource, definition }) => {
    const { name, description } = resource;
    return { name, uri: definition.uri, schema: { description, type: 'array', items: itemSchema(resource) } };
  });
  const requestHeaders = Object.keys(REQUEST_HEADERS).map((name) => reference('parameters', name));
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
    security: [Object.fromEntries(['bearer', ...otherCredentials].map((scheme) => [scheme, []]))],
    paths: {
      [LIST_PATH]: {
        get: {
          operationId: 'listResources',
          summary: 'List the resources',
          parameters: requestHeaders,
          responses: {
            ...answers('The resources, in a fixed order.', HEADERS.list, reference('schemas', 'definitions')),
            ...problemResponses(CODES.list),
          },
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
          ],
          responses: {
            ...answers('The whole list; its shape depends on uri.', HEADERS.read, {
              anyOf: lists.map(({ name }) => reference('schemas', name)),
            }),
            ...problemResponses(CODES.read),
          },
        },
      },
    },
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An access token of the platform.' },
        ...Object.fromEntries(otherCredentials.map((name) => [name, { type: 'apiKey', in: 'header', name }])),
      },
      schemas: {
        definitions: DEFINITIONS,
        ...Object.fromEntries(lists.map(({ name, schema }) => [name, schema])),
        problem: PROBLEM,
      },
      headers: HEADER_COMPONENTS,
      parameters: Object.fromEntries(
        Object.entries(REQUEST_HEADERS).map(([name, description]) => [
          name,
          { name, in: 'header', required: false, description, schema: { type: 'string' } },
        ]),
      ),
    },
  };
}

function answers(description: string, headers: readonly string[], schema: object): Record<string, object> {
  const content = { 'application/json': { schema } };
  return {
    200: { description, headers: headersOf([...headers, 'Content-Encoding']), content },
    304: { description: 'The list has not changed.', headers: headersOf(headers) },
  };
}

function reference(kind: string, name: string): object {
  return { $ref: `#/components/${kind}/${name}` };
}
