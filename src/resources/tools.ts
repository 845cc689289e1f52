import { z } from 'zod';
import type { Resource } from './resource.ts';

/** All installed tools. */
export const tools = {
  name: 'tools',
  title: 'Tools',
  description: 'All installed tools.',
  stored: true,
  shape: z.strictObject({
    id: z.string().min(1),
    name: z.string().min(1),
    version: z.string(),
    category: z.string(),
    description: z.string(),
  }),
  query: { installed: 'true' },
  formats: { version: 'version' },
  filters: ['category'],
} as const satisfies Resource;
