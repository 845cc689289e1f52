import { z } from 'zod';
import { toTimestamp } from '../../../mapping/field.ts';
import { REPLY_FAULTS } from '../../../mapping/reply-fault.ts';
import type { Resource } from '../../../resources/resource.ts';
import { type CrossCheck, withChecks } from '../cross-check.ts';
import { bytes, expression, keyword, milliseconds, scopeToken, selection, whole } from '../scalars.ts';
import { checkJoined, joinedShape } from './joined-settings.ts';
import { PaginationSettings } from './pagination-settings.ts';
import { checkRequest, requestShape } from './request.ts';

const LifetimeSettings = z.strictObject({
  ttlMs: milliseconds(0)
    .default(60_000)
    .describe('Time for which a list is fresh. 0: lists are not stored, and every read calls the upstream.'),
  staleWhileRevalidateMs: milliseconds(0)
    .default(300_000)
    .describe('Time after that in which it is served while it is refreshed in the background. 0: none.'),
  staleIfErrorMs: milliseconds(0)
    .default(3_600_000)
    .describe(
      'Time after its freshness in which it is served if the upstream fails: no connection, a timeout, 5xx, 408, 425 or 429. 0: none.',
    ),
});

/** A key of stored resources only; its type is that of all, since one function makes them. */
function storedOnly(resource: Resource): { cache: z.ZodOptional<z.ZodPrefault<typeof LifetimeSettings>> } {
  const cache = LifetimeSettings.prefault({}).describe('Lifetime of stored lists.').optional();
  return (resource.stored ? { cache } : {}) as { cache: typeof cache };
}

/** Settings of one resource. What is left out is the default upstream contract. */
export function resourceSettings(resource: Resource) {
  const Shape = z.strictObject({
    enabled: z.boolean().default(true).describe('Whether the resource is offered, if its upstream is configured.'),
    upstream: z
      .string()
      .min(1)
      .optional()
      // Filled in by offers.ts, where it was not written.
      .meta({
        default: resource.name,
        description: 'Name of the upstream. If set, it must be a key of upstreams.',
      }),
    requiredScopes: z
      .array(
        scopeToken.refine(
          (scope) => scope !== 'offline_access',
          'is not a scope of a resource (OpenID Connect Core, section 11)',
        ),
      )
      .default([])
      .describe('Scopes that a caller needs to read the resource; all are required. Needs verification.'),
    keywords: z
      .array(keyword)
      .max(20)
      .default([])
      .describe('Other words for an item. Assistants that search their tools find the tool by them.'),
    ...requestShape(resource),
    ...joinedShape,
    items: selection
      .default(resource.name)
      .describe('Items of a page (JMESPath over the body); @ if the body itself is the list.'),
    errors: expression
      .nullable()
      .default(null)
      .describe(
        'Other errors in a response with status 200 (JMESPath); any value except empty, false and 0 fails the read.',
      ),
    ignoreErrors: z
      .array(z.enum(REPLY_FAULTS))
      .optional()
      .describe(
        'Errors that a response with status 200 reports, and that are ignored because its list is complete. Any other one fails the read.',
      ),
    objectAs: z
      .enum(['error', 'item', 'items'])
      .default('error')
      .describe(
        'An object in place of the list: an error, one item, or items by their ids. Each item then has the member id, with its name in the object.',
      ),
    notFound: z
      .enum(['error', 'empty'])
      .default('error')
      .describe('A 404 to the first page: an error, or an empty list.'),
    pagination: PaginationSettings.prefault({ kind: 'token' }).describe('Pagination of the list.'),
    where: selection.optional().describe('Condition that keeps an item (JMESPath over one item).'),
    fields: fieldsSettings(resource).prefault({}).describe('Mapping of an upstream item to the documented fields.'),
    invalidItems: z
      .enum(['fail', 'drop'])
      .default('fail')
      .describe('Handling of items that cannot be mapped: fail the read, or drop and count them.'),
    allowEmpty: z
      .boolean()
      .default(false)
      .describe(
        'Whether a list may be empty if items, where or invalidItems leaves nothing of a reply that was not empty. Otherwise the read fails.',
      ),
    duplicateIds: z
      .enum(['fail', 'allow'])
      .default('fail')
      .describe('Handling of duplicate ids in a list: fail the read, or serve the list and log a warning.'),
    maxItems: whole(1, 10_000_000).default(100_000).describe('Items of one read, before where. Beyond: an error.'),
    maxReadBytes: bytes(1024)
      .default(67_108_864)
      .describe('Total size of all pages of one read, decompressed. Beyond: an error.'),
    ...storedOnly(resource),
  });
  return withChecks(Shape, checkRequest, checkJoined(resource));
}

function fieldsSettings(resource: Resource) {
  const entries = Object.keys(resource.shape.shape).map((name) => [name, fieldSettings(name, resource)] as const);
  return z.strictObject(Object.fromEntries(entries));
}

function fieldSettings(name: string, resource: Resource) {
  const format = resource.formats[name];
  // An id differs between items, so it cannot be a constant.
  const from = name === 'id' ? selection : expression;
  const Shape = z.strictObject({
    from: from.default(name).describe('Value of the field (JMESPath over the item).'),
    default: z
      .string()
      .default('')
      .describe('Text if the value is missing or null; with format timestamp, also if it is empty.'),
    values: z
      .record(z.string(), z.string())
      .default({})
      .describe('Lookup table from upstream values to documented values; other values stay.'),
    format: z
      .enum(['timestamp', 'version', 'none'])
      .default(format ?? 'none')
      .describe('Format of the documented value.'),
  });
  const Field = withChecks(Shape, checkDefault);
  return z
    .union([from.transform((text) => Field.parse({ from: text })), Field], {
      error: 'must be an expression or a block',
    })
    .prefault({})
    .describe('An expression (JMESPath over the item), or a block with from, default, values and format.');
}

/** Checks that a default has the documented form: it is served unchanged. */
const checkDefault: CrossCheck<{ default: string; format: string }> = (field, report) => {
  if (field.format !== 'timestamp' || field.default === '' || toTimestamp(field.default) === field.default) return;
  report(['default'], 'must be a timestamp such as 2026-01-02T03:04:05Z');
};
