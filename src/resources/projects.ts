import { z } from 'zod';
import type { Resource } from './resource.ts';

/** All projects that the caller may see. */
export const projects = {
  name: 'projects',
  title: 'Projects',
  description: 'All projects accessible to the caller.',
  stored: false,
  shape: z.strictObject({
    id: z.string().min(1),
    name: z.string().min(1),
    description: z.string(),
    createTime: z.string(),
  }),
  query: {},
  formats: { createTime: 'timestamp' },
  filters: [],
} as const satisfies Resource;
