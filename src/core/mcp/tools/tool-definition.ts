import { z } from 'zod';
import type { Offered } from '../../reads/catalogue/catalogue.ts';
import { type argumentsShape, LISTS } from './arguments.ts';

/** Bounds, which hosts drop or do not enforce: descriptions have those that matter, and `ToolArguments` checks all. */
const BOUNDS = ['additionalProperties', 'minLength', 'maxLength', 'minimum', 'maximum'] as const;

/** A JSON Schema of an object. */
export interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, object>>;
  readonly [name: string]: unknown;
}

/** Every model reads name, description and `inputSchema` in every conversation, so they are short. */
export function describeTool(
  { resource }: Pick<Offered, 'resource'>,
  taken: ReturnType<typeof argumentsShape>,
  maxResultBytes: number,
) {
  const { tool, description, keywords, shape, filters } = resource;
  const { properties = {}, ...input } = jsonSchema(taken);
  // A list without filters has no field with few values to count. Programs know the others from docs/clients.md.
  const unnamed = new Set(['format', 'changed_since', ...(filters.length === 0 ? ['count_by'] : [])]);
  for (const field in shape.shape) if (!filters.includes(field)) unnamed.add(field);
  const named = Object.entries(properties).filter(([name]) => !unnamed.has(name));
  const title = tool.replaceAll('_', ' ');
  return {
    name: tool,
    title: title.charAt(0).toUpperCase() + title.slice(1),
    description: `Security platform: ${description} Also called ${keywords.join(', ')}.`,
    inputSchema: { ...input, properties: Object.fromEntries(named) },
    outputSchema: jsonSchema(returnedShape(shape), ['description']),
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    _meta: {
      'anthropic/searchHint': [title, ...keywords].join(' '),
      'anthropic/maxResultSizeChars': maxResultBytes,
    },
  };
}

function returnedShape(shape: z.ZodObject) {
  const count = z.int().optional();
  const ids = z.array(z.string());
  const counts = z.array(z.object({ value: z.string().optional(), others: count, count: z.int() }));
  return z.object({
    total: count,
    nextCursor: z.string().optional(),
    counts: z.record(z.string(), counts).optional(),
    ignoredArguments: z.array(z.string()).optional(),
    leftOut: z.object({ bySettings: count, invalid: count }).optional(),
    stale: z.string().optional(),
    hint: z.string().optional(),
    items: z.array(z.object(shape.shape).partial()).optional(),
    columns: z.array(z.string()).optional(),
    rows: z.array(z.array(z.string())).optional(),
    etag: z.string().optional(),
    changes: z.object({ new: ids, changed: ids, gone: ids }).optional(),
    notModified: z.boolean().optional(),
  });
}

/** Without bounds and these members. */
function jsonSchema(shape: z.ZodObject, without: readonly 'description'[] = []): Schema {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, {
    io: 'input',
    override: ({ jsonSchema: each, path }) => {
      if (LISTS.has(String(path.at(-1)))) {
        each.type = 'string';
        delete each.items;
      }
      // As a text, which is as clear to a model and takes fewer tokens.
      if (path.at(-1) === 'sort') delete each.enum;
      for (const name of [...BOUNDS, ...without]) delete each[name];
    },
  });
  return schema as Schema;
}
