import { z } from 'zod';
import type { Resource } from './resource.ts';

export const tools = {
  name: 'tools',
  title: 'Tools',
  description: 'All installed tools.',
  tool: 'list_installed_tools',
  keywords: ['tool', 'scanner', 'scanners', 'integration', 'integrations', 'connector', 'connectors'],
  stored: true,
  shape: z.strictObject({
    id: z.string().min(1).describe('Identifier of the tool, like a slug.'),
    name: z.string().min(1).describe('Display name.'),
    version: z.string().describe('Version: major.minor.patch.'),
    category: z.string().describe('Category of the tool.'),
    description: z.string().describe('Free text.'),
  }),
  query: { installed: 'true' },
  formats: { version: 'version' },
  filters: ['category'],
} as const satisfies Resource;
