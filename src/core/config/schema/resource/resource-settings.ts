import { z } from 'zod';
import { countsPage } from '../../../mapping/expressions/expression.ts';
import { toTimestamp } from '../../../mapping/field.ts';
import type { Resource } from '../../../resources/resource.ts';
import { type CrossCheck, withChecks } from '../cross-check.ts';
import { bytes, expression, keyword, milliseconds, scopeToken, selection, whole } from '../scalars.ts';
import { PaginationSettings } from './pagination-settings.ts';
import { checkRequest, requestShape } from './request.ts';

export const LifetimeSettings = z.strictObject({
  ttlMs: milliseconds(0)
    .default(60_000)
    .describe('How long an answer is fresh. 0: nothing is stored, and every read asks the upstream.'),
  staleWhileRevalidateMs: milliseconds(0)
    .default(300_000)
    .describe('How long after that it is served at once, and refreshed behind the read. 0: not at all.'),
  staleIfErrorMs: milliseconds(0)
    .default(3_600_000)
    .describe(
      'How long after its freshness it is served while the upstream fails, but for 401, 403, 404, 410 and 451. 0: not at all.',
    ),
});

/** A key of stored resources only; its type is that of all, since one function makes them. */
function storedOnly(resource: Resource): { cache: z.ZodOptional<z.ZodPrefault<typeof LifetimeSettings>> } {
  const cache = LifetimeSettings.prefault({}).describe('How long an answer serves its caller again.').optional();
  return (resource.stored ? { cache } : {}) as { cache: typeof cache };
}

/** Settings of one resource. What is left out is the default upstream contract. */
export function resourceSettings(resource: Resource) {
  const Shape = z.strictObject({
    enabled: z
      .boolean()
      .default(true)
      .describe('Whether the resource is offered, where its upstream is among upstreams.'),
    upstream: z
      .string()
      .min(1)
      .optional()
      // Filled in by offers.ts, where it was not written.
      .meta({
        default: resource.name,
        description: 'Name of the upstream, a key of upstreams. Written out, it must be there.',
      }),
    requiredScopes: z
      .array(
        scopeToken.refine(
          (scope) => scope !== 'offline_access',
          'is for clients to ask for, and opens no resource (OpenID Connect Core, section 11)',
        ),
      )
      .default([])
      .describe('Scopes that a caller needs to read it, all of them. Needs verification.'),
    keywords: z
      .array(keyword)
      .max(20)
      .default([])
      .describe('Further words by which people call an item: assistants that search their tools find it by them.'),
    ...requestShape(resource),
    items: selection
      .default(resource.name)
      .describe('Where a page holds its items (JMESPath over the body); @ when the body is the list itself.'),
    errors: expression
      .nullable()
      .default('errors')
      .describe(
        'Where a page says that it failed though its status is 200 (JMESPath over the body); all but empty, false and 0 is an error. null: nowhere.',
      ),
    pagination: PaginationSettings.prefault({ kind: 'token' }).describe('How the list is spread over pages.'),
    where: selection.optional().describe('Keeps the items for which it is truthy (JMESPath over one item).'),
    fields: fieldsSettings(resource).prefault({}).describe('How each documented field is made of an upstream item.'),
    strictMapping: z
      .boolean()
      .default(false)
      .describe('Whether a read fails in which a field that has an expression is empty throughout; else it is logged.'),
    invalidItems: z
      .enum(['fail', 'drop'])
      .default('fail')
      .describe('What an item that cannot be mapped does: fail the read, or be dropped and counted.'),
    allowEmpty: z
      .boolean()
      .default(false)
      .describe(
        'Whether a list may be empty where items, where or invalidItems leaves nothing of a reply that was not; else it is an error.',
      ),
    duplicateIds: z
      .enum(['fail', 'allow'])
      .default('fail')
      .describe('What an id that occurs twice in a list does: fail the read, or be served and logged.'),
    maxItems: whole(1, 10_000_000).default(100_000).describe('Items of one read, before where; more is an error.'),
    maxReadBytes: bytes(1024)
      .default(67_108_864)
      .describe('Bodies of all pages of one read together, after decompression; more is an error.'),
    ...storedOnly(resource),
  });
  return withChecks(Shape, checkRequest, checkTotal);
}

/** A total that is computed from the page would end each list behind its first one. */
const checkTotal: CrossCheck<{ items: string; pagination: { total?: string | undefined } }> = (settings, report) => {
  const { items, pagination } = settings ?? {};
  const total = pagination?.total;
  if (typeof items !== 'string' || typeof total !== 'string' || !countsPage(total, items)) return;
  report(
    ['pagination', 'total'],
    'counts the items of one page, which items selects: name where the platform says how many there are in all, or leave it out',
  );
};

function fieldsSettings(resource: Resource) {
  const entries = Object.keys(resource.shape.shape).map((name) => [name, fieldSettings(name, resource)] as const);
  return z.strictObject(Object.fromEntries(entries));
}

function fieldSettings(name: string, resource: Resource) {
  const format = resource.formats[name];
  // An id differs between items, so it cannot be a constant.
  const from = name === 'id' ? selection : expression;
  const Shape = z.strictObject({
    from: from.default(name).describe('Where an upstream item holds the value (JMESPath over the item).'),
    default: z
      .string()
      .default('')
      .describe('Text to serve if the value is missing or null; with format timestamp, also if it is empty.'),
    values: z
      .record(z.string(), z.string())
      .default({})
      .describe('Lookup table from upstream text to documented text; other text stays.'),
    format: z
      .enum(['timestamp', 'version', 'none'])
      .default(format ?? 'none')
      .describe('Documented form that the text is brought into.'),
  });
  const Field = withChecks(Shape, checkDefault);
  return z
    .union([from.transform((text) => Field.parse({ from: text })), Field])
    .prefault({})
    .describe('An expression (JMESPath over the item), or a block with from, default, values and format.');
}

/** Checks that a default has the documented form: it is served unchanged. */
const checkDefault: CrossCheck<{ default: string; format: string }> = (field, report) => {
  if (field?.format !== 'timestamp' || !field.default || toTimestamp(field.default) === field.default) return;
  report(['default'], 'must be a time as it is served, such as 2026-01-02T03:04:05Z');
};
