import type { Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Resource } from '../../resources/resource.ts';

/** A resource's tool as `tools/list` shows it. */
export function describeTool(resource: Resource, argumentsShape: z.ZodObject): Tool {
  const { name, title, description, shape, filters } = resource;
  const by = ['query', ...filters].join(', ');
  return {
    name: `list_${name}`,
    title: `List ${title.toLowerCase()}`,
    description: `${description} Page by page, with total and nextCursor; narrow the list by ${by}.`,
    inputSchema: jsonSchema(argumentsShape),
    outputSchema: jsonSchema(
      z.strictObject({
        items: z.array(shape).describe('Items of this page, in the order of the platform.'),
        total: z.number().int().min(0).describe('Items that fit, on all pages.'),
        nextCursor: z.string().optional().describe('Cursor of the next page. Absent on the last one.'),
      }),
    ),
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  };
}

function jsonSchema(shape: z.ZodObject): Tool['inputSchema'] {
  return { ...z.toJSONSchema(shape, { io: 'input' }), type: 'object' } as Tool['inputSchema'];
}
