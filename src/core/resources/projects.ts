import { z } from 'zod';
import type { Resource } from './resource.ts';

export const projects = {
  name: 'projects',
  title: 'Projects',
  description: 'All projects accessible to the caller.',
  tool: 'list_projects',
  keywords: ['project', 'application', 'applications', 'app', 'apps', 'workspace', 'workspaces'],
  stored: false,
  shape: z.strictObject({
    id: z.string().min(1).describe('Identifier of the project.'),
    name: z.string().min(1).describe('Name of the project.'),
    description: z.string().describe('Free text.'),
    createTime: z.string().describe('When it was created: ISO 8601, in UTC.'),
  }),
  query: {},
  formats: { createTime: 'timestamp' },
  filters: [],
} as const satisfies Resource;
