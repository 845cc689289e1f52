import { z } from 'zod';
import type { Resource } from './resource.ts';

/** All installed workflows. */
export const workflows = {
  name: 'workflows',
  title: 'Workflows',
  description: 'All installed workflows.',
  stored: true,
  shape: z.strictObject({
    id: z.string().min(1),
    name: z.string().min(1),
    description: z.string(),
    triggerType: z.string(),
    status: z.string(),
  }),
  query: { installed: 'true' },
  formats: {},
  filters: ['triggerType', 'status'],
} as const satisfies Resource;
